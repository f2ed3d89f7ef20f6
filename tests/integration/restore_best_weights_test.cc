// EarlyStopping gives the model back the variables of its best epoch.
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// A loss that falls by less than 100 in an epoch does not get better. So the
// first epoch is the best, and each one after it counts.
constexpr char kRestoring[] =
    "callbacks=[{EarlyStopping: {min_delta: 100, patience: 2, verbose: 1, "
    "restore_best_weights: true}}]";
// The validation set is the test set, so that both have the same loss with the
// same variables.
constexpr char kValidation[] =
    "data.validation={idx: {features: test-images, labels: test-labels}, "
    "scale: 0.00392156862745098}";

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  return arguments;
}

void ExpectTheFirstEpochsVariables(const SmallJob& job) {
  const nlohmann::json result = job.Result();
  const std::vector<double> losses = Column(result, "val_loss");
  ASSERT_THAT(losses, SizeIs(3));
  const double loss = result.at("evaluation").at("loss").get<double>();
  EXPECT_NEAR(loss, losses[0], 1e-6);
  EXPECT_GT(std::abs(loss - losses[2]), 1e-3);
}

TEST(RestoreBestWeightsTest, EndsWithTheBestEpochUnderEveryStrategy) {
  const std::pair<std::string, std::vector<std::string>> strategies[] = {
      {"mirrored", {"strategy=mirrored", "cluster=null", "devices=2"}},
      {"central_storage",
       {"strategy=central_storage", "cluster=null", "devices=2"}},
      {"multi_worker_mirrored",
       {"strategy=multi_worker_mirrored", "cluster={worker: 3}"}},
      {"sync", {"consistency=sync", "cluster={ps: 2, worker: 2}"}},
      {"async", {"cluster={ps: 2, worker: 2}"}},
      {"without checkpoints of its own",
       {"checkpoint=null", "cluster={ps: 1, worker: 2}"}}};
  for (const auto& [name, changes] : strategies) {
    SCOPED_TRACE(name);
    SmallJob job;
    Process run =
        job.Run(With(With({}, changes), {"epochs=9", kValidation, kRestoring}));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    EXPECT_THAT(run.Output(),
                HasSubstr("\nEpoch 3: early stopping\nRestoring model weights "
                          "from the end of the best epoch: 1.\n"));
    ExpectTheFirstEpochsVariables(job);
  }
}

TEST(RestoreBestWeightsTest, AResumedJobStillHasTheBestEpoch) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"strategy=mirrored", "cluster=null"},
        std::vector<std::string>{"cluster={ps: 2, worker: 2}"}}) {
    SmallJob job;
    const std::vector<std::string> all =
        With({}, {"checkpoint.keep=1", kValidation, kRestoring});
    Process first = job.Run(With(With(all, changes), {"epochs=2"}));
    EXPECT_EQ(first.Wait(kJobLimit), 0) << first.Errors();
    EXPECT_THAT(first.Output(), HasSubstr("\nRestoring model weights from the "
                                          "end of the best epoch: 1.\n"));
    std::vector<std::string> resumed = With(With(all, changes), {"epochs=9"});
    resumed.emplace_back("--resume");
    Process second = job.Run(resumed);
    EXPECT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
    ExpectTheFirstEpochsVariables(job);
    // Nothing is left to do but the test set.
    Process third = job.Run(resumed);
    EXPECT_EQ(third.Wait(kJobLimit), 0) << third.Errors();
    EXPECT_THAT(third.Output(), Not(HasSubstr("Epoch 4/")));
    EXPECT_THAT(third.Output(), Not(HasSubstr("Epoch 3/")));
    ExpectTheFirstEpochsVariables(job);
  }
}

// The first thing that replicas of one process hear of the leader is then the
// order to load the variables.
TEST(RestoreBestWeightsTest, AJobThatEndedBeforeTheOrderIsResumed) {
  for (const char* const strategy : {"mirrored", "central_storage"}) {
    SCOPED_TRACE(strategy);
    SmallJob job;
    std::vector<std::string> arguments =
        With({}, {absl::StrCat("strategy=", strategy), "cluster=null",
                  "devices=2", "checkpoint.keep=9", "epochs=3", kValidation,
                  "callbacks=[{ModelCheckpoint: {filepath: last.keras}}, "
                  "{EarlyStopping: {min_delta: 100, patience: 9, "
                  "restore_best_weights: true}}]"});
    Process first = job.Run(arguments);
    EXPECT_EQ(first.Wait(kJobLimit), 0) << first.Errors();
    ExpectTheFirstEpochsVariables(job);
    // The one before it, of the same step, is that of last.keras.
    int removed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(
             job.output_dir() + "/checkpoint")) {
      if (!absl::EndsWith(entry.path().string(), "-2")) continue;
      std::filesystem::remove_all(entry.path());
      ++removed;
    }
    ASSERT_EQ(removed, 1);
    arguments.emplace_back("--resume");
    Process second = job.Run(arguments);
    EXPECT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
    EXPECT_THAT(second.Output(), Not(HasSubstr("Epoch 3/")));
    ExpectTheFirstEpochsVariables(job);
  }
}

// A rate of next to nothing shows the variables with which the second phase
// begins. Both end with those of their first epoch.
TEST(RestoreBestWeightsTest, APhaseHandsTheBestEpochToTheNext) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"strategy=mirrored", "cluster={worker: 1}"},
        std::vector<std::string>{"strategy=multi_worker_mirrored",
                                 "cluster={worker: 2}"},
        std::vector<std::string>{"cluster={ps: 2, worker: 2}"}}) {
    SCOPED_TRACE(changes.back());
    for (const absl::string_view rate : {"1.0e-9", "0.1"}) {
      SCOPED_TRACE(rate);
      SmallJob job;
      Process run = job.Run(With(
          With({}, changes),
          {"epochs=null", kValidation, kRestoring,
           absl::StrCat("phases=[{name: head, epochs: 9}, {name: tune, epochs: "
                        "9, optimizer: {SGD: {learning_rate: ",
                        rate, "}}}]")}));
      EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
      const std::vector<double> head = Column(
          ReadJson(job.output_dir() + "/phases/head/result.json"), "val_loss");
      const std::vector<double> tune = Column(job.Result(), "val_loss");
      ASSERT_THAT(head, SizeIs(3));
      EXPECT_GT(std::abs(head[0] - head[2]), 1e-3);
      if (rate == "0.1") {
        ExpectTheFirstEpochsVariables(job);
      } else {
        ASSERT_THAT(tune, SizeIs(3));
        EXPECT_NEAR(tune[0], head[0], 1e-5);
      }
    }
  }
}

TEST(RestoreBestWeightsTest, IsRefusedTogetherWithAverages) {
  SmallJob job;
  Process run =
      job.Run(With({}, {"optimizer={SGD: {learning_rate: 0.1, use_ema: true}}",
                        kRestoring}));
  EXPECT_EQ(run.Wait(kJobLimit), 2) << run.Errors();
  EXPECT_THAT(run.Errors(),
              HasSubstr("callbacks[0].restore_best_weights: got true, but the "
                        "optimizer has use_ema: true"));
}

}  // namespace
}  // namespace paceline
