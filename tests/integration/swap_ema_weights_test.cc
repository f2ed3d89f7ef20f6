// SwapEMAWeights has the averages of the variables validated.
#include <cmath>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kAveraging[] =
    "optimizer={SGD: {learning_rate: 0.125, use_ema: true, ema_momentum: "
    "0.875}}";
constexpr char kSwapping[] = "callbacks=[SwapEMAWeights]";
// The validation set is the test set, so that both have the same loss with the
// same variables.
constexpr char kValidated[] =
    "data.validation={idx: {features: test-images, labels: test-labels}, "
    "scale: 0.00392156862745098}";

std::vector<std::string> Sets(const std::vector<std::string>& settings) {
  std::vector<std::string> arguments;
  for (const std::string& setting : settings) {
    arguments.emplace_back("--set");
    arguments.push_back(setting);
  }
  return arguments;
}

// The loss of the test set with the model in a file of Keras.
double LossOf(const SmallJob& job, const std::string& model) {
  const std::string evaluating = job.folder() / "evaluating.yaml";
  WriteText(evaluating,
            absl::StrCat("model: ", model,
                         "\ndata:\n"
                         "  train: {idx: {features: train-images, labels: "
                         "train-labels}, scale: 0.00392156862745098}\n"
                         "  test: {idx: {features: test-images, labels: "
                         "test-labels}, scale: 0.00392156862745098}\n"
                         "strategy: mirrored\nbatch_size_per_replica: 64\n"
                         "optimizer: {SGD: {learning_rate: 0}}\n"));
  const std::string output = job.folder() / "evaluated";
  Process run = job.Coordinator({"run", evaluating, "--output", output});
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  return ReadJson(output + "/result.json").at("evaluation").at("loss");
}

TEST(SwapEmaWeightsTest, ValidatesTheAveragesUnderEveryStrategy) {
  const std::pair<std::string, std::vector<std::string>> strategies[] = {
      {"mirrored", {"strategy=mirrored", "cluster=null", "devices=2"}},
      {"central_storage",
       {"strategy=central_storage", "cluster=null", "devices=2"}},
      {"multi_worker_mirrored",
       {"strategy=multi_worker_mirrored", "cluster={worker: 3}"}},
      {"sync", {"consistency=sync", "cluster={ps: 2, worker: 2}"}},
      {"bounded",
       {"consistency=bounded", "max_staleness=2",
        "cluster={ps: 2, worker: 2}"}},
      {"async", {"cluster={ps: 2, worker: 2}"}}};
  for (const auto& [name, changes] : strategies) {
    SCOPED_TRACE(name);
    SmallJob job;
    std::vector<std::string> settings = {kAveraging, kSwapping, kValidated,
                                         "epochs=2"};
    settings.insert(settings.end(), changes.begin(), changes.end());
    Process run = job.Run(Sets(settings));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    const std::vector<double> losses = Column(job.Result(), "val_loss");
    ASSERT_THAT(losses, SizeIs(2));
    // model.keras has the averages, and the test set was evaluated with the
    // variables.
    EXPECT_NEAR(LossOf(job, job.output_dir() + "/model.keras"), losses[1],
                1e-5);
    const double loss = job.Result().at("evaluation").at("loss");
    EXPECT_GT(std::abs(loss - losses[1]), 1e-3);
  }
}

// The steps are those of a job that swaps nothing.
TEST(SwapEmaWeightsTest, TrainingGoesOnWithTheVariables) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"strategy=mirrored", "cluster={worker: 1}"},
        std::vector<std::string>{"cluster={ps: 1, worker: 1}"}}) {
    SCOPED_TRACE(changes.back());
    std::vector<std::string> settings = {kAveraging, kValidated, "epochs=3",
                                         "data.train.shuffle=false"};
    settings.insert(settings.end(), changes.begin(), changes.end());
    SmallJob plain;
    Process run = plain.Run(Sets(settings));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    settings.emplace_back(kSwapping);
    SmallJob swapping;
    Process other = swapping.Run(Sets(settings));
    EXPECT_EQ(other.Wait(kJobLimit), 0) << other.Errors();
    EXPECT_TRUE(swapping.LastShardTensors() == plain.LastShardTensors());
    EXPECT_EQ(Column(swapping.Result(), "loss"),
              Column(plain.Result(), "loss"));
    EXPECT_NE(Column(swapping.Result(), "val_loss"),
              Column(plain.Result(), "val_loss"));
  }
}

// How often the tasks' logs say that variables and averages were swapped.
int CountSwaps(const SmallJob& job) {
  int count = 0;
  for (const char* const task : {"ps-0", "worker-0"}) {
    for (const std::string& line : Lines(job.Log(task))) {
      if (absl::StrContains(line, "swapped the variables")) ++count;
    }
  }
  return count;
}

// A program kills the leader, its parent, before the validation of the second
// epoch: once the averages are in the place of the variables, and the
// checkpoint of the first epoch is written. The validation waits for the
// program.
TEST(SwapEmaWeightsTest, AJobThatIsKilledBetweenTheSwapsGoesOnAsIfItWereNot) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{"strategy=mirrored", "cluster={worker: 1}"},
        std::vector<std::string>{"cluster={ps: 1, worker: 1}"}}) {
    SCOPED_TRACE(changes.back());
    const auto run = [&](const SmallJob& job, bool kills,
                         std::vector<std::string> arguments) {
      const std::string script = job.folder() / "kill.sh";
      WriteText(script,
                kills ? absl::StrCat(
                            "read -r line\n"
                            "case $line in *'\"epoch\":1'*)\n"
                            "  if mkdir \"$0.done\"; then\n"
                            "    until [ $(cat ",
                            job.output_dir(),
                            "/logs/* | grep -c 'swapped the variables') -ge 3 "
                            "]; do sleep 0.05; done\n"
                            "    until ls ",
                            job.output_dir(),
                            "/checkpoint/*/manifest.json; do sleep 0.05; done\n"
                            "    kill -9 $PPID\n"
                            "  fi ;;\n"
                            "esac\n")
                      : "read -r line\n");
      std::vector<std::string> settings = {
          kAveraging, kValidated, "epochs=3", "data.train.shuffle=false",
          absl::StrCat("callbacks=[SwapEMAWeights, {Exec: {command: [/bin/sh, ",
                       script, "], on: [test_begin]}}]")};
      settings.insert(settings.end(), changes.begin(), changes.end());
      for (std::string& argument : Sets(settings)) {
        arguments.push_back(std::move(argument));
      }
      return job.Run(arguments);
    };
    SmallJob whole;
    Process first = run(whole, /*kills=*/false, {});
    EXPECT_EQ(first.Wait(kJobLimit), 0) << first.Errors();
    SmallJob killed;
    Process second = run(killed, /*kills=*/true, {});
    EXPECT_EQ(second.Wait(kJobLimit), 128 + SIGKILL);
    // There and back in the first epoch, and there in the second.
    EXPECT_EQ(CountSwaps(killed), 3);
    Process third = run(killed, /*kills=*/true, {"--resume"});
    EXPECT_EQ(third.Wait(kJobLimit), 0) << third.Errors();
    EXPECT_TRUE(killed.LastShardTensors() == whole.LastShardTensors());
    EXPECT_EQ(Column(killed.Result(), "val_loss"),
              Column(whole.Result(), "val_loss"));
  }
}

TEST(SwapEmaWeightsTest, NeedsAnOptimizerThatAverages) {
  SmallJob job;
  Process run = job.Run(Sets({kSwapping}));
  EXPECT_EQ(run.Wait(kJobLimit), 2) << run.Errors();
  EXPECT_THAT(run.Errors(),
              HasSubstr("callbacks[0]: SwapEMAWeights needs the averages of "
                        "`use_ema`, but the job's optimizer has use_ema: "
                        "false; expected an `optimizer` with use_ema: true"));
}

}  // namespace
}  // namespace paceline
