// Parameter servers that wait: `consistency: sync` and `bounded`.
#include <signal.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The job of SmallJob with synchronous steps, of the same global batch whatever
// the workers.
std::vector<std::string> Synchronous(
    int ps, int workers, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {
      "--set", "consistency=sync",
      "--set", "cluster.ps=" + std::to_string(ps),
      "--set", "cluster.worker=" + std::to_string(workers),
      "--set", "batch_size_per_replica=null",
      "--set", "global_batch_size=" + std::to_string(kBatchSize)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

nlohmann::json RunToTheEnd(const SmallJob& job,
                           const std::vector<std::string>& arguments) {
  Process run = job.Run(arguments);
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
  return job.Result();
}

double FinalLoss(const nlohmann::json& result) {
  return result.at("evaluation").at("loss");
}

TEST(SynchronousPsTest, DoesTheSameWithAnyNumberOfTasks) {
  SmallJob alone;
  const double expected = FinalLoss(RunToTheEnd(alone, Synchronous(1, 1)));
  for (const auto& [ps, workers] : {std::pair(1, 3), std::pair(2, 2)}) {
    SmallJob job;
    const nlohmann::json result = RunToTheEnd(job, Synchronous(ps, workers));
    EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
    EXPECT_THAT(Column(result, "steps"), Each(kStepsPerEpoch));
    EXPECT_NEAR(FinalLoss(result), expected, 1e-4);
  }
}

TEST(SynchronousPsTest, DoesTheSameInSmallChunks) {
  SmallJob whole;
  const double expected = FinalLoss(RunToTheEnd(whole, Synchronous(1, 2)));
  SmallJob job;
  const nlohmann::json result = RunToTheEnd(
      job, Synchronous(1, 2, {"--set", "partitioner={chunk_bytes: 1024}"}));
  EXPECT_THAT(job.Log("ps-0"), testing::ContainsRegex("slots in [3-9] chunks"));
  EXPECT_DOUBLE_EQ(FinalLoss(result), expected);
}

TEST(SynchronousPsTest, ClipsByTheNormOverAllShards) {
  const std::string clipped = "optimizer={Adam: {global_clipnorm: 0.05}}";
  SmallJob alone;
  const double expected =
      FinalLoss(RunToTheEnd(alone, Synchronous(1, 1, {"--set", clipped})));
  SmallJob job;
  EXPECT_NEAR(
      FinalLoss(RunToTheEnd(job, Synchronous(2, 3, {"--set", clipped}))),
      expected, 1e-4);
}

TEST(SynchronousPsTest, RepeatsToTheBitAndResumes) {
  SmallJob whole;
  RunToTheEnd(whole, Synchronous(1, 3));
  SmallJob parts;
  RunToTheEnd(parts, Synchronous(1, 3, {"--set", "epochs=2"}));
  const nlohmann::json resumed =
      RunToTheEnd(parts, Synchronous(1, 3, {"--resume"}));
  EXPECT_THAT(Column(resumed, "epoch"), ElementsAre(0, 1, 2));
  EXPECT_EQ(parts.LastShardTensors(), whole.LastShardTensors());
}

// Runs a job for long, and signals a worker after two epochs.
void SignalWorker(const Process& run, int index, int signal) {
  ASSERT_TRUE(WaitForEpochs(run, 2)) << run.Errors();
  const pid_t pid =
      FindProcess(run.Session(), "worker", "--index=" + std::to_string(index));
  ASSERT_GT(pid, 0);
  kill(pid, signal);
}

TEST(SynchronousPsTest, NeedsEveryWorker) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    SmallJob job;
    Process run = job.Run(Synchronous(1, 3, {"--set", "epochs=100000"}));
    SignalWorker(run, 1, signal);
    EXPECT_EQ(run.Wait(kFailureLimit), 1) << run.Errors();
    EXPECT_THAT(run.Session(), IsEmpty());
    const nlohmann::json error = job.Result().at("error");
    EXPECT_EQ(error.at("task"), "worker-1");
    EXPECT_THAT(error.at("message").get<std::string>(), HasSubstr("worker-1"));
  }
}

TEST(SynchronousPsTest, AServerThatHangsEndsTheJob) {
  SmallJob job;
  Process run = job.Run(Synchronous(2, 2, {"--set", "epochs=100000"}));
  ASSERT_TRUE(WaitForEpochs(run, 2)) << run.Errors();
  kill(FindProcess(run.Session(), "ps_server", "--index=1"), SIGSTOP);
  EXPECT_EQ(run.Wait(kFailureLimit), 1) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
  EXPECT_EQ(job.Result().at("error").at("task"), "ps-1");
}

std::vector<std::string> Bounded(int max_staleness, int epochs) {
  return {"--set", "consistency=bounded", "--set",
          "max_staleness=" + std::to_string(max_staleness), "--set",
          "cluster={ps: 2, worker: 3}",
          // Several at each server.
          "--set", "partitioner={chunk_bytes: 1024}", "--set",
          "epochs=" + std::to_string(epochs)};
}

TEST(BoundedPsTest, CountsEachExampleOnceAndLearns) {
  for (const int max_staleness : {0, 2}) {
    SmallJob job;
    const nlohmann::json result = RunToTheEnd(job, Bounded(max_staleness, 4));
    EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
    EXPECT_THAT(Column(result, "steps"), Each(kStepsPerEpoch));
    EXPECT_GT(result.at("evaluation").at("accuracy").get<double>(), 0.8);
  }
}

// Others wait for it until it is fenced.
TEST(BoundedPsTest, GoesOnWithoutAWorkerThatDies) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    constexpr int kEpochs = 40;
    SmallJob job;
    Process run = job.Run(Bounded(1, kEpochs));
    SignalWorker(run, 2, signal);
    EXPECT_EQ(run.Wait(kFailureLimit + kJobLimit), 0) << run.Errors();
    EXPECT_THAT(run.Session(), IsEmpty());
    const nlohmann::json result = job.Result();
    EXPECT_THAT(result.at("history"), testing::SizeIs(kEpochs));
    EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  }
}

}  // namespace
}  // namespace paceline
