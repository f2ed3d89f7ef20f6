// Strategy multi_worker_mirrored: workers sum their gradients, nobody else
// holds variables.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/test_network.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The job of SmallJob, with the same global batch whatever the workers.
std::vector<std::string> Arguments(int workers,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {
      "--set", "strategy=multi_worker_mirrored",
      "--set", "cluster={worker: " + std::to_string(workers) + "}",
      "--set", "batch_size_per_replica=null",
      "--set", "global_batch_size=" + std::to_string(kBatchSize)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

nlohmann::json RunToTheEnd(const SmallJob& job, int workers,
                           const std::vector<std::string>& more = {}) {
  Process run = job.Run(Arguments(workers, more));
  EXPECT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
  return job.Result();
}

TEST(MultiWorkerMirroredTest, StepsTogether) {
  SmallJob job;
  const nlohmann::json result = RunToTheEnd(job, 2);
  EXPECT_EQ(result.at("strategy"), "multi_worker_mirrored");
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_THAT(Column(result, "steps"), Each(kStepsPerEpoch));
  EXPECT_GT(result.at("evaluation").at("accuracy").get<double>(), 0.8);
  EXPECT_THAT(result.at("tasks"), SizeIs(2));
}

TEST(MultiWorkerMirroredTest, DoesTheSameWithAnyNumberOfWorkers) {
  std::vector<double> losses;
  for (const int workers : {1, 2, 3}) {
    SmallJob job;
    losses.push_back(
        RunToTheEnd(job, workers).at("evaluation").at("loss").get<double>());
  }
  for (const double loss : losses) EXPECT_NEAR(loss, losses.front(), 1e-4);
}

TEST(MultiWorkerMirroredTest, RepeatsToTheBit) {
  SmallJob job;
  SmallJob again;
  RunToTheEnd(job, 3);
  RunToTheEnd(again, 3);
  const std::string checkpoint = job.LastShardFile();
  EXPECT_FALSE(checkpoint.empty());
  EXPECT_EQ(checkpoint, again.LastShardFile());
}

// Batches whose parts are small, so that an epoch has several leases.
constexpr int kSmallBatchSize = 6;

// By the steps of the job, from 1: the mean loss of the examples of its epoch
// up to this step, as steps.csv has the losses of all workers.
std::vector<double> MeanLosses(const SmallJob& job) {
  std::vector<double> means;
  double total = 0;
  int examples = 0;
  for (const std::string& row :
       Lines(ReadText(job.output_dir() + "/steps.csv"))) {
    if (row == "step,loss") continue;
    if (examples == kTrainExamples) total = examples = 0;
    const int size = std::min(kSmallBatchSize, kTrainExamples - examples);
    total += size * std::stod(row.substr(row.find(',') + 1));
    examples += size;
    means.push_back(total / examples);
  }
  return means;
}

// The logs of each event `train_batch_end`, by epoch and batch. An event whose
// program is still at work when the next one comes is left out.
std::map<std::pair<int, int>, nlohmann::json> LogsOfBatches() {
  SmallJob job;
  const std::string events = job.folder() / "events";
  RunToTheEnd(job, 3,
              {"--set", absl::StrCat("global_batch_size=", kSmallBatchSize),
               "--set", "epochs=8", "--set", "log_steps=true", "--set",
               "callbacks=[{Exec: {command: [/bin/sh, -c, 'cat >> " + events +
                   "'], on: [train_batch_end]}}]"});
  std::map<std::pair<int, int>, nlohmann::json> logs;
  std::pair<int, int> last = {0, -1};
  const std::vector<double> means = MeanLosses(job);
  for (const std::string& line : Lines(ReadText(events))) {
    const nlohmann::json event = nlohmann::json::parse(line);
    const std::pair<int, int> batch = {event.at("epoch"), event.at("batch")};
    EXPECT_LT(last, batch) << "each step comes once, in order";
    logs[batch] = event.at("logs");
    EXPECT_NEAR(event.at("logs").at("loss").get<double>(),
                means.at(event.at("step").get<size_t>() - 1), 1e-5)
        << line;
    last = batch;
  }
  return logs;
}

// They are the means over all of them up to the batch, wherever it lies in a
// lease, and so the same in each run.
TEST(MultiWorkerMirroredTest, LogsOfABatchAreThoseOfAllWorkers) {
  const auto logs = LogsOfBatches();
  const auto again = LogsOfBatches();
  int common = 0;
  for (const auto& [batch, values] : logs) {
    const auto same = again.find(batch);
    if (same == again.end()) continue;
    ++common;
    EXPECT_EQ(values, same->second)
        << "epoch " << batch.first << ", batch " << batch.second;
  }
  EXPECT_GT(common, 0) << logs.size() << " and " << again.size() << " events";
}

TEST(MultiWorkerMirroredTest, ResumesWhereItStopped) {
  SmallJob whole;
  RunToTheEnd(whole, 2);
  SmallJob parts;
  RunToTheEnd(parts, 2, {"--set", "epochs=2"});
  const nlohmann::json resumed = RunToTheEnd(parts, 2, {"--resume"});
  EXPECT_THAT(Column(resumed, "epoch"), ElementsAre(0, 1, 2));
  // Variables, both slots of Adam and the count of updates.
  EXPECT_EQ(parts.LastShardFile(), whole.LastShardFile());
}

TEST(MultiWorkerMirroredTest, ACheckpointOfItIsEvaluated) {
  SmallJob job;
  const nlohmann::json result = RunToTheEnd(job, 2);
  Process evaluate =
      job.Coordinator({"evaluate", job.output_dir() + "/checkpoint", "--job",
                       job.path(), "-o", "json"});
  ASSERT_EQ(evaluate.Wait(kJobLimit), 0) << evaluate.Errors();
  EXPECT_NEAR(nlohmann::json::parse(evaluate.Output()).at("loss").get<double>(),
              result.at("evaluation").at("loss").get<double>(), 1e-6);
}

// A job file for workers that lead.
std::string WriteJob(const SmallJob& job) {
  std::string text = ReadText(job.path());
  const std::string ps = "strategy: parameter_server";
  text.replace(text.find(ps), ps.size(), "strategy: multi_worker_mirrored");
  const size_t cluster = text.find("cluster:");
  text.replace(cluster, text.find('\n', cluster) - cluster, "");
  std::string path = job.folder() / "mirrored.yaml";
  WriteText(path, text);
  return path;
}

TEST(MultiWorkerMirroredTest, WorkerZeroLeadsUnderTfConfig) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 0, 0, 3);
  Process worker_2 = cluster.Start("worker", 2);
  Process worker_0 = cluster.Start(
      "worker", 0, {"--job", WriteJob(job), "--output", job.output_dir()});
  Process worker_1 = cluster.Start("worker", 1);
  for (Process* task : {&worker_0, &worker_1, &worker_2}) ExpectExit(*task, 0);
  EXPECT_THAT(Column(job.Result(), "examples"), Each(kTrainExamples));
  EXPECT_THAT(worker_0.Output(), HasSubstr("Epoch 1/3"));
  EXPECT_THAT(worker_1.Output(), IsEmpty());
}

TEST(MultiWorkerMirroredTest, TheChiefTrainsToo) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 0, 1);
  Process worker = cluster.Start("worker", 0);
  Process chief = cluster.Start(
      "chief", 0, {"--job", WriteJob(job), "--output", job.output_dir()});
  for (Process* task : {&chief, &worker}) ExpectExit(*task, 0);
  const nlohmann::json result = job.Result();
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  ASSERT_THAT(result.at("tasks"), SizeIs(2));
  EXPECT_EQ(result.at("tasks")[0].at("type"), "chief");
}

// On different hosts there is no shared memory.
TEST(MultiWorkerMirroredTest, TrainsAcrossHosts) {
  const std::string obstacle = TestNetwork::Obstacle();
  if (!obstacle.empty()) GTEST_SKIP() << obstacle;
  TestNetwork network(2);
  SmallJob job;
  const HandStartedCluster cluster(
      job,
      {{"worker",
        {network.AddressOf(0) + ":2222", network.AddressOf(1) + ":2222"}}},
      [&](const std::string& task) { return network.On(task.back() - '0'); });
  Process worker_1 = cluster.Start("worker", 1);
  Process worker_0 = cluster.Start(
      "worker", 0, {"--job", WriteJob(job), "--output", job.output_dir()});
  for (Process* task : {&worker_0, &worker_1}) ExpectExit(*task, 0);
  EXPECT_THAT(Column(job.Result(), "examples"), Each(kTrainExamples));
}

}  // namespace
}  // namespace paceline
