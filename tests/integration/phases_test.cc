// Jobs with phases: parts of the training one after the other, each with its
// own trainable layers, optimizer and epochs.
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pointwise;
using ::testing::SizeIs;

constexpr char kFirst[] = "{name: head, frozen: ['conv2d*'], epochs: 2}";
constexpr char kSecond[] =
    "{name: tune, optimizer: {SGD: {learning_rate: 0.05, momentum: 0.9}}, "
    "initial_epoch: 2, epochs: 4}";

std::vector<std::string> With(std::vector<std::string> cluster,
                              const std::vector<std::string>& more) {
  cluster.insert(cluster.end(), more.begin(), more.end());
  return cluster;
}

std::vector<std::string> Phases(const std::vector<std::string>& cluster,
                                const std::string& second = kSecond) {
  return With(cluster, {"--set", "epochs=null", "--set",
                        absl::StrCat("phases=[", kFirst, ", ", second, "]")});
}

void ExpectSuccess(Process process) {
  EXPECT_EQ(process.Wait(kJobLimit), 0) << process.Errors();
  EXPECT_THAT(process.Session(), IsEmpty());
}

const std::vector<std::string> kMirrored = {
    "--set", "strategy=mirrored", "--set", "cluster={worker: 1}",
    "--set", "devices=2",         "--set", "batch_size_per_replica=32"};
const std::vector<std::string> kMultiWorker = {
    "--set", "strategy=multi_worker_mirrored", "--set", "cluster={worker: 2}",
    "--set", "batch_size_per_replica=32"};
const std::vector<std::string> kServers = {
    "--set", "cluster={ps: 2, worker: 2}", "--set", "consistency=sync",
    "--set", "batch_size_per_replica=32"};

class PhasesTest : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(PhasesTest, AreTwoJobsOneAfterTheOther) {
  SmallJob first;
  ExpectSuccess(first.Run(
      With(GetParam(), {"--set", "model.layers[1].Conv2D.trainable=false",
                        "--set", "epochs=2"})));
  SmallJob second;
  ExpectSuccess(second.Run(With(
      GetParam(),
      {"--set", absl::StrCat("weights=", first.output_dir(), "/model.keras"),
       "--set", "optimizer={SGD: {learning_rate: 0.05, momentum: 0.9}}",
       "--set", "initial_epoch=2", "--set", "epochs=4"})));

  SmallJob job;
  Process run = job.Run(Phases(GetParam()));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("phase 1 of 2: head"));
  EXPECT_THAT(run.Errors(), HasSubstr("phase 2 of 2: tune"));
  EXPECT_THAT(run.Output(), HasSubstr("Epoch 2/2"));
  EXPECT_THAT(run.Output(), HasSubstr("Epoch 3/4"));

  const nlohmann::json head =
      ReadJson(job.output_dir() + "/phases/head/result.json");
  EXPECT_EQ(head.at("phase"), "head");
  EXPECT_TRUE(head.at("evaluation").is_null());
  const nlohmann::json tune = job.Result();
  EXPECT_EQ(tune.at("phase"), "tune");
  EXPECT_THAT(Column(tune, "epoch"), ElementsAre(2, 3));
  EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/model.keras"));
  EXPECT_FALSE(
      std::filesystem::exists(job.output_dir() + "/phases/head/model.keras"));
  // Sums may be taken in another order.
  EXPECT_THAT(Column(head, "loss"),
              Pointwise(DoubleNear(1e-4), Column(first.Result(), "loss")));
  EXPECT_THAT(Column(tune, "loss"),
              Pointwise(DoubleNear(1e-4), Column(second.Result(), "loss")));
  EXPECT_NEAR(tune.at("evaluation").at("loss"),
              second.Result().at("evaluation").at("loss"), 1e-4);
}

TEST_P(PhasesTest, AKilledOneGoesOnInItsPhase) {
  constexpr char kLong[] =
      "{name: tune, optimizer: {SGD: {learning_rate: 0.01}}, epochs: 60}";
  SmallJob job;
  {
    Process run = job.Run(Phases(GetParam(), kLong));
    ASSERT_TRUE(WaitForEpochs(run, 2 + 3)) << run.Errors();
    run.Signal(SIGKILL);
    ASSERT_EQ(run.Wait(kJobLimit), 128 + SIGKILL);
  }
  const std::string head = job.output_dir() + "/phases/head/result.json";
  const std::string before = ReadText(head);
  EXPECT_THAT(before, Not(IsEmpty()));
  Process again = job.Run(With(Phases(GetParam(), kLong), {"--resume"}));
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(again.Errors(), Not(HasSubstr("phase 1 of 2")));
  EXPECT_THAT(again.Output(), Not(HasSubstr("Epoch 1/")));
  EXPECT_EQ(ReadText(head), before);
  EXPECT_EQ(Column(job.Result(), "epoch").size(), 60u);
}

INSTANTIATE_TEST_SUITE_P(Strategies, PhasesTest,
                         ::testing::Values(kMirrored, kMultiWorker, kServers));

TEST(Phases, GoOnWithoutAWorkerThatIsLost) {
  SmallJob job;
  Process run = job.Run(
      {"--set", "cluster={ps: 1, worker: 2}", "--set", "epochs=null", "--set",
       "phases=[{name: head, epochs: 200}, {name: tune, epochs: 2}]"});
  ASSERT_TRUE(WaitForEpochs(run, 2)) << run.Errors();
  const pid_t worker = FindProcess(run.Session(), "worker", "--index=1");
  ASSERT_GT(worker, 0);
  kill(worker, SIGKILL);
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("worker-1 exited with code 137"));
  const nlohmann::json head =
      ReadJson(job.output_dir() + "/phases/head/result.json");
  EXPECT_THAT(Column(head, "epoch"), SizeIs(200));
  EXPECT_THAT(Column(job.Result(), "examples"),
              ElementsAre(kTrainExamples, kTrainExamples));
}

TEST(Phases, ResumeBeginsAPhaseThatHasNoCheckpoint) {
  SmallJob job;
  ExpectSuccess(job.Run(Phases(kMirrored)));
  const nlohmann::json unbroken = job.Result();
  const std::string tensors = job.LastShardTensors();
  std::filesystem::remove_all(job.output_dir() + "/checkpoint");
  Process again = job.Run(With(Phases(kMirrored), {"--resume"}));
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(again.Errors(), Not(HasSubstr("phase 1 of 2")));
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(2, 3));
  EXPECT_EQ(job.LastShardTensors(), tensors);
}

// A daemon brings the outputs of an earlier start, of which the coordinator may
// not know yet that the checkpoint was moved.
TEST(Phases, ALeftCheckpointOfAFinishedPhaseIsPassedOver) {
  SmallJob job;
  ExpectSuccess(job.Run(Phases(kMirrored)));
  const std::string tensors = job.LastShardTensors();
  const std::string checkpoints = job.output_dir() + "/checkpoint";
  std::filesystem::remove_all(checkpoints);
  std::filesystem::copy(job.output_dir() + "/phases/head/checkpoint",
                        checkpoints, std::filesystem::copy_options::recursive);
  Process again = job.Run(With(Phases(kMirrored), {"--resume"}));
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(again.Errors(), Not(HasSubstr("phase 1 of 2")));
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(2, 3));
  EXPECT_EQ(job.LastShardTensors(), tensors);
}

// The checkpoint under way is of another job.
TEST(Phases, AStartThatIsRefusedDeletesNothing) {
  SmallJob job;
  ExpectSuccess(job.Run(Phases(kMirrored)));
  const std::string left = absl::StrCat(job.output_dir(), "/checkpoint/",
                                        absl::StrFormat("step-%012d", 1));
  std::filesystem::copy(
      absl::StrCat(job.output_dir(), "/phases/head/checkpoint/",
                   absl::StrFormat("step-%012d", 2 * kStepsPerEpoch)),
      left, std::filesystem::copy_options::recursive);
  const std::vector<std::string> other =
      Phases(kMirrored, "{name: other, epochs: 3}");
  Process refused = job.Run(With(other, {"--resume"}));
  EXPECT_EQ(refused.Wait(kJobLimit), 2) << refused.Errors();
  EXPECT_TRUE(std::filesystem::exists(left + "/manifest.json"));
}

// Half of a finished phase's checkpoint is none.
TEST(Phases, APhaseWithoutItsShardFilesHasNotFinished) {
  SmallJob job;
  ExpectSuccess(job.Run(Phases(kMirrored)));
  const std::string head = job.output_dir() + "/phases/head/checkpoint";
  const std::string checkpoints = job.output_dir() + "/checkpoint";
  std::filesystem::remove_all(checkpoints);
  std::filesystem::copy(head, checkpoints,
                        std::filesystem::copy_options::recursive);
  int removed = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(head)) {
    if (entry.path().extension() != ".safetensors") continue;
    removed += std::filesystem::remove(entry.path()) ? 1 : 0;
  }
  ASSERT_GT(removed, 0);
  Process again = job.Run(With(Phases(kMirrored), {"--resume"}));
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(again.Errors(), HasSubstr("phase 1 of 2"));
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(2, 3));
}

TEST(Phases, OneThatTrainsNothingIsWarnedOf) {
  SmallJob job;
  Process run = job.Run(With(
      kMirrored, {"--set", "epochs=null", "--set",
                  absl::StrCat("phases=[{name: still, frozen: ['*'], epochs: "
                               "1}, {name: head, epochs: 1}]")}));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::string warning = "none of its layers has trainable variables";
  const size_t first = run.Errors().find(warning);
  ASSERT_NE(first, std::string::npos) << run.Errors();
  EXPECT_THAT(run.Errors(), HasSubstr("phase \"still\": model: " + warning));
  EXPECT_EQ(run.Errors().find(warning, first + 1), std::string::npos);
}

std::vector<std::string> BackedPhases(const std::string& delete_checkpoint) {
  return With(kMirrored,
              {"--set", "checkpoint=null", "--set", "epochs=null", "--set",
               absl::StrCat("phases=[{name: head, epochs: 2, callbacks: "
                            "[{BackupAndRestore: {delete_checkpoint: ",
                            delete_checkpoint, "}}]}, ", kSecond, "]")});
}

TEST(Phases, TheBackupOfAnyIsDeletedAtTheEndOfTheJob) {
  SmallJob job;
  for (int i = 0; i < 2; ++i) {
    Process run = job.Run(BackedPhases("true"));
    EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
    EXPECT_THAT(run.Errors(), HasSubstr("phase 1 of 2"));
    EXPECT_FALSE(
        std::filesystem::exists(job.output_dir() + "/phases/head/checkpoint"));
  }
}

TEST(Phases, TheNextOneIsToldToGoOnFromABackup) {
  SmallJob job;
  ExpectSuccess(job.Run(BackedPhases("false")));
  Process again = job.Run(BackedPhases("false"));
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(again.Errors(), HasSubstr("goes on from "));
  EXPECT_THAT(again.Errors(), HasSubstr("/phases/head/checkpoint/step-"));
}

TEST(Phases, ACheckpointOfAnotherPhaseIsRefused) {
  SmallJob job;
  ExpectSuccess(job.Run(Phases(kMirrored)));
  Process again = job.Run(
      With(Phases(kMirrored, "{name: other, epochs: 3}"), {"--resume"}));
  EXPECT_EQ(again.Wait(kJobLimit), 2) << again.Errors();
  EXPECT_THAT(again.Errors(), HasSubstr("of phase \"tune\"; expected one of "
                                        "phase \"other\""));
}

TEST(Phases, RunUnderTfConfig) {
  SmallJob job;
  const HandStartedCluster cluster =
      HandStartedCluster::OnLoopback(job, /*chief=*/1, /*ps=*/1, /*workers=*/2);
  std::vector<Process> tasks;
  tasks.push_back(cluster.Start("ps", 0));
  tasks.push_back(cluster.Start("worker", 0));
  tasks.push_back(cluster.Start("worker", 1));
  Process chief = cluster.StartChief(Phases({}));
  EXPECT_EQ(chief.Wait(kJobLimit), 0) << chief.Errors();
  for (Process& task : tasks) {
    EXPECT_EQ(task.Wait(kJobLimit), 0) << task.Errors();
  }
  EXPECT_EQ(job.Result().at("phase"), "tune");
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(2, 3));
}

TEST(Phases, RunUnderTfConfigWithoutAChief) {
  SmallJob job;
  const HandStartedCluster cluster =
      HandStartedCluster::OnLoopback(job, /*chief=*/0, /*ps=*/0, /*workers=*/2);
  const std::vector<std::string> words =
      With(Phases({"--set", "strategy=multi_worker_mirrored"}),
           {"--set", "cluster={worker: 2}", "--job", job.path()});
  Process other = cluster.Start("worker", 1, words);
  Process leader =
      cluster.Start("worker", 0, With(words, {"--output", job.output_dir()}));
  EXPECT_EQ(leader.Wait(kJobLimit), 0) << leader.Errors();
  EXPECT_EQ(other.Wait(kJobLimit), 0) << other.Errors();
  EXPECT_THAT(Column(job.Result(), "epoch"), ElementsAre(2, 3));
}

}  // namespace
}  // namespace paceline
