// Jobs whose data has steps.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// Bright quarters tell the classes, so pictures are moved by a pixel only.
constexpr char kSteps[] =
    "data.train.steps=[{RandomTranslation: {height_factor: 0.1, width_factor: "
    "0.1}}, {RandomContrast: {factor: 0.3}}, {RandomBrightness: {factor: "
    "0.1}}]";

// The history of training in step.
nlohmann::json HistoryOf(const SmallJob& job, const std::string& strategy,
                         const std::string& cluster,
                         const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "--set", "strategy=" + strategy,        "--set", "cluster=" + cluster,
      "--set", "batch_size_per_replica=null", "--set", "global_batch_size=64"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Process run = job.Run(arguments);
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  nlohmann::json history = job.Result()["history"];
  for (nlohmann::json& epoch : history) epoch.erase("seconds");
  return history;
}

constexpr char kPeers[] = "multi_worker_mirrored";

TEST(StepsJobTest, ARepetitionAndAResumeSeeTheSamePictures) {
  const SmallJob job;
  const auto history = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--set", kSteps};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return HistoryOf(job, kPeers, "{worker: 2}", arguments);
  };
  const nlohmann::json first = history({});
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(history({}), first);
  history({"--set", "epochs=1"});
  EXPECT_EQ(history({"--resume"}), first);
  EXPECT_NE(HistoryOf(job, kPeers, "{worker: 2}", {}), first)
      << "the steps change something";
}

// Sums of other parts of a batch are rounded otherwise.
TEST(StepsJobTest, AnotherNumberOfWorkersSeesTheSamePictures) {
  const SmallJob job;
  const nlohmann::json two =
      HistoryOf(job, kPeers, "{worker: 2}", {"--set", kSteps});
  const nlohmann::json one =
      HistoryOf(job, kPeers, "{worker: 1}", {"--set", kSteps});
  ASSERT_EQ(one.size(), two.size());
  for (size_t epoch = 0; epoch < one.size(); ++epoch) {
    const double loss = one[epoch]["loss"];
    EXPECT_NEAR(two[epoch]["loss"].get<double>(), loss, 1e-3 * loss);
  }
}

TEST(StepsJobTest, AStepThatDoesNotFitIsNamed) {
  const SmallJob job;
  const auto fails = [&job](const std::string& steps) {
    Process run = job.Run({"--set", "data.train.steps=" + steps});
    EXPECT_EQ(run.Wait(kJobLimit), 2);
    return run.Errors();
  };
  EXPECT_THAT(fails("[RandomFlip: {mode: up}]"),
              HasSubstr("data.train.steps[0].mode"));
  EXPECT_THAT(fails("[CenterCrop: {height: 6, width: 6}]"),
              HasSubstr("examples have features of shape (6, 6), expected "
                        "(8, 8, 1)"));
  EXPECT_THAT(fails("[PreprocessInput: {model: resnet50}]"),
              HasSubstr("data.train: steps[0]: PreprocessInput: expected "
                        "images of 3 channels"));
}

}  // namespace
}  // namespace paceline
