// Learning rates that callbacks decide while a job trains, under every
// strategy.
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// A rate as history has it.
double Float(double rate) { return static_cast<float>(rate); }

MATCHER_P(NearBy, tolerance, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance;
}

constexpr char kScheduler[] =
    "callbacks=[LearningRateScheduler: {schedule: {0: 0.1, 2: 0.01}, verbose: "
    "1}]";
// Reduces it after each epoch but the first, as the loss does not grow.
constexpr char kReducer[] =
    "callbacks=[ReduceLROnPlateau: {monitor: loss, mode: max, patience: 1, "
    "factor: 0.5}]";

// SGD on the same global batches, whatever the strategy.
std::vector<std::string> Arguments(const std::string& strategy,
                                   const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "--set", "optimizer={SGD: {learning_rate: 0.2, momentum: 0.5}}",
      "--set", "batch_size_per_replica=null",
      "--set", absl::StrCat("global_batch_size=", kBatchSize)};
  const auto set = [&](const std::string& change) {
    arguments.insert(arguments.end(), {"--set", change});
  };
  if (strategy == "sync" || strategy == "async") {
    // One asynchronous worker, since several take no defined order.
    set(absl::StrCat("cluster={ps: 2, worker: ", strategy == "sync" ? 2 : 1,
                     "}"));
    set("consistency=" + strategy);
  } else {
    const bool has_workers = strategy == "multi_worker_mirrored";
    set("strategy=" + strategy);
    set(absl::StrCat("cluster={worker: ", has_workers ? 2 : 1, "}"));
    set(absl::StrCat("devices=", has_workers ? 1 : 2));
  }
  for (const std::string& change : more) {
    if (change == "--resume") {
      arguments.push_back(change);
    } else {
      set(change);
    }
  }
  return arguments;
}

nlohmann::json Train(const SmallJob& job, const std::string& strategy,
                     const std::vector<std::string>& more) {
  Process run = job.Run(Arguments(strategy, more));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  return job.Result();
}

TEST(LearningRateTest, IsTheSameUnderEveryStrategy) {
  const nlohmann::json expected = Train(SmallJob(), "mirrored", {kScheduler});
  const std::vector<double> losses = Column(expected, "loss");
  const auto rates = ElementsAre(Float(0.1), Float(0.1), Float(0.01));
  EXPECT_THAT(Column(expected, "learning_rate"), rates);
  for (const char* strategy :
       {"multi_worker_mirrored", "central_storage", "sync", "async"}) {
    SCOPED_TRACE(strategy);
    const nlohmann::json result = Train(SmallJob(), strategy, {kScheduler});
    EXPECT_THAT(Column(result, "learning_rate"), rates);
    EXPECT_THAT(Column(result, "loss"), Pointwise(NearBy(1e-5), losses));
  }
  // From the first epoch on.
  const nlohmann::json other = Train(SmallJob(), "mirrored", {});
  EXPECT_GT(std::abs(Column(other, "loss")[0] - losses[0]), 1e-3);
  EXPECT_THAT(Column(other, "learning_rate"), ElementsAre(0.2, 0.2, 0.2));
}

TEST(LearningRateTest, MessagesAreKeras) {
  SmallJob job;
  Process run = job.Run(Arguments("mirrored", {kScheduler}));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Output(),
              HasSubstr("\nEpoch 3: LearningRateScheduler setting learning "
                        "rate to 0.01.\n"));
}

TEST(LearningRateTest, GoesOnAfterAResume) {
  for (const char* strategy : {"mirrored", "sync"}) {
    SCOPED_TRACE(strategy);
    const nlohmann::json whole =
        Train(SmallJob(), strategy, {kReducer, "epochs=4"});
    EXPECT_THAT(Column(whole, "learning_rate"),
                ElementsAre(0.2, 0.2, Float(0.1), Float(0.05)));
    SmallJob job;
    const std::string every = "checkpoint={every_steps: 26, keep: 2}";
    Train(job, strategy, {kReducer, "epochs=3", every});
    // Of the end: the one before it is amid the third epoch.
    std::set<std::filesystem::path> checkpoints;
    for (const auto& entry : std::filesystem::directory_iterator(
             job.output_dir() + "/checkpoint")) {
      checkpoints.insert(entry.path());
    }
    ASSERT_EQ(checkpoints.size(), 2);
    std::filesystem::remove_all(*checkpoints.rbegin());
    const nlohmann::json resumed =
        Train(job, strategy, {kReducer, "epochs=4", every, "--resume"});
    EXPECT_EQ(Column(resumed, "learning_rate"), Column(whole, "learning_rate"));
    EXPECT_THAT(Column(resumed, "loss"),
                Pointwise(NearBy(1e-6), Column(whole, "loss")));
  }
}

TEST(LearningRateTest, AScheduleCannotBeSet) {
  SmallJob job;
  Process run = job.Run(
      {"--set",
       "optimizer={SGD: {learning_rate: {ExponentialDecay: "
       "{initial_learning_rate: 0.1, decay_steps: 5, decay_rate: 0.5}}}}",
       "--set", kScheduler});
  EXPECT_EQ(run.Wait(kJobLimit), 2);
  EXPECT_THAT(run.Errors(),
              HasSubstr("callbacks[0]: LearningRateScheduler needs an "
                        "optimizer with a constant learning_rate"));
}

TEST(LearningRateTest, ARateThatCannotBeEndsTheJob) {
  SmallJob job;
  Process run = job.Run(
      {"--set",
       "callbacks=[LearningRateScheduler: {schedule: lr / (1 - epoch)}]"});
  EXPECT_EQ(run.Wait(kJobLimit), 1);
  EXPECT_THAT(run.Errors(),
              HasSubstr("callbacks[0].schedule: \"lr / (1 - epoch)\" gives the "
                        "learning rate inf for epoch 2 (`epoch` 1); expected a "
                        "number from 0 to"));
}

}  // namespace
}  // namespace paceline
