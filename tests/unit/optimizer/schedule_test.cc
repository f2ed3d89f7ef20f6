#include "common/optimizer/schedule.h"

#include <cmath>
#include <string>

#include "common/config/path.h"
#include "common/optimizer/learning_rate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/optimizer/keras_cases.h"

namespace paceline {
namespace {

using ::testing::StartsWith;

absl::Status ReadRate(const nlohmann::ordered_json& json, LearningRate& out) {
  return ReadConfig(ValueFromJson(json), Path("learning_rate"), out);
}

// Keras computes in float32.
TEST(ScheduleTest, EachStepHasTheRateOfKeras) {
  const nlohmann::ordered_json expected = KerasExpected();
  ASSERT_FALSE(expected["schedules"].empty());
  for (const nlohmann::ordered_json& example : expected["schedules"]) {
    LearningRate rate;
    const absl::Status status = ReadRate(
        {{example["class_name"].get<std::string>(), example["config"]}}, rate);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < example["steps"].size(); ++i) {
      const int64_t step = example["steps"][i];
      const double value = example["values"][i];
      EXPECT_NEAR(rate.At(step), value, 5e-6 * std::abs(value))
          << example["class_name"] << example["config"] << " step " << step;
    }
  }
}

TEST(ScheduleTest, ErrorsNameTheFieldAndWhatIsExpected) {
  LearningRate rate;
  const auto message = [&](const nlohmann::ordered_json& config) {
    return std::string(
        ReadRate({{"ExponentialDecay", config}}, rate).message());
  };
  EXPECT_THAT(message({{"initial_learning_rate", 0.1}, {"decay_rate", 0.5}}),
              StartsWith("learning_rate.decay_steps: missing; expected "));
  EXPECT_EQ(message({{"initial_learning_rate", 0.1},
                     {"decay_steps", 0},
                     {"decay_rate", 0.5}}),
            "learning_rate.decay_steps: must be above 0, got 0");
  EXPECT_EQ(message({{"initial_learning_rate", -1},
                     {"decay_steps", 1},
                     {"decay_rate", 0.5}}),
            "learning_rate.initial_learning_rate: must be at least 0, got -1");
}

TEST(ScheduleTest, PiecesMustFitTheirBoundaries) {
  LearningRate rate;
  const auto message = [&](const std::vector<double>& boundaries,
                           const std::vector<double>& values) {
    return std::string(
        ReadRate({{"PiecewiseConstantDecay",
                   {{"boundaries", boundaries}, {"values", values}}}},
                 rate)
            .message());
  };
  EXPECT_EQ(
      message({1, 2}, {1, 2}),
      "learning_rate.values: expected 3, one more than boundaries, got 2");
  EXPECT_EQ(
      message({3, 3}, {1, 2, 3}),
      "learning_rate.boundaries[1]: expected more than the step before, 3, "
      "got 3");
  EXPECT_EQ(message({}, {1}),
            "learning_rate.boundaries: expected at least 1 step");
  EXPECT_EQ(message({-1}, {1, 2}),
            "learning_rate.boundaries[0]: must be at least 0, got -1.0");
}

TEST(ScheduleTest, EachRestartBeginsAtThePeak) {
  for (const double t_mul : {1.0, 1.0001, 1.25, 1.5, 2.0, 2.5, 3.0, 10.0}) {
    LearningRate rate;
    const absl::Status status = ReadRate({{"CosineDecayRestarts",
                                           {{"initial_learning_rate", 0.5},
                                            {"first_decay_steps", 65536},
                                            {"t_mul", t_mul}}}},
                                         rate);
    ASSERT_TRUE(status.ok()) << status;
    double begin = 0;
    double length = 65536;
    for (int period = 0; period < 7; ++period) {
      const int64_t first = std::llround(std::ceil(begin - 1e-6));
      EXPECT_GT(rate.At(first), 0.499) << t_mul << " period " << period;
      if (first > 0) {
        EXPECT_LT(rate.At(first - 1), 0.001) << t_mul << " period " << period;
      }
      begin += length;
      length *= t_mul;
    }
  }
}

TEST(ScheduleTest, RatesAreFinite) {
  for (const char* const text :
       {R"({"InverseTimeDecay": {"decay_rate": 0}})",
        R"({"PolynomialDecay": {"cycle": true}})", R"({"CosineDecay": {}})"}) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
    json.front()["initial_learning_rate"] = 0.5;
    json.front()["decay_steps"] = 1e-310;
    LearningRate rate;
    const absl::Status status = ReadRate(json, rate);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(std::isfinite(rate.At(0))) << text;
    EXPECT_TRUE(std::isfinite(rate.At(int64_t{1} << 53))) << text;
  }
}

}  // namespace
}  // namespace paceline
