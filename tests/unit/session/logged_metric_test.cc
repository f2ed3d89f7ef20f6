#include "common/session/machine/logged_metric.h"

#include "common/model/metrics/mean_loss.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class Range : public MeanLoss {
 public:
  Range() : MeanLoss(nullptr) { name = "range"; }

  bool is_mean() const override { return false; }
  int64_t state_size() const override { return 3; }
  double Result(absl::Span<const double> state) const override {
    return state[2] - state[0];
  }
};

TEST(LoggedMetricTest, ResultsAreFunctionsOfTheStatesInTheirOrder) {
  std::vector<std::unique_ptr<const Metric>> metrics;
  metrics.push_back(std::make_unique<Range>());
  auto mean = std::make_unique<MeanLoss>(nullptr);
  mean->name = "mean";
  metrics.push_back(std::move(mean));
  const std::vector<LoggedMetric> logged =
      MakeLoggedMetrics({{.metrics = metrics}});
  EXPECT_EQ(StateSize(logged), 7u);
  EXPECT_THAT(
      ResultsOf(logged, {6, 4, 10, 0, 17, 1, 2}),
      ElementsAre(Pair("loss", 1.5), Pair("range", 7), Pair("mean", 0.5)));
}

TEST(LoggedMetricTest, AMeanOfExamplesWhoseWeightsAreZeroIsZero) {
  std::vector<std::unique_ptr<const Metric>> metrics;
  auto mean = std::make_unique<MeanLoss>(nullptr);
  mean->name = "mean";
  mean->is_weighted = true;
  metrics.push_back(std::move(mean));
  const std::vector<LoggedMetric> logged =
      MakeLoggedMetrics({{.metrics = metrics}});
  EXPECT_THAT(ResultsOf(logged, {6, 4, 0, 0}),
              ElementsAre(Pair("loss", 1.5), Pair("mean", 0)));
}

}  // namespace
}  // namespace paceline
