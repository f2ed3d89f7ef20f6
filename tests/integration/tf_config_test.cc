// Clusters whose tasks are started one by one, each under its TF_CONFIG.
#include <filesystem>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/free_addresses.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Long enough for a task to find nobody there yet.
void Pause() { absl::SleepFor(absl::Milliseconds(500)); }

TEST(TfConfigTest, ChiefComesLast) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  Process worker_1 = cluster.Start("worker", 1);
  Process worker_0 = cluster.Start("worker", 0);
  Process ps = cluster.Start("ps", 0);
  Pause();
  Process chief = cluster.StartChief();
  ExpectExit(chief, 0);
  for (Process* member : {&ps, &worker_0, &worker_1}) ExpectExit(*member, 0);
  const nlohmann::json result = job.Result();
  EXPECT_EQ(result.at("state"), "SUCCEEDED");
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  for (const auto& task : result.at("tasks")) {
    if (task.at("type") != "ps") continue;
    EXPECT_EQ(task.at("address"), cluster.AddressOf("ps", 0));
  }
}

TEST(TfConfigTest, ChiefComesFirst) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 2, 2);
  Process chief = cluster.StartChief();
  Pause();
  Process worker_0 = cluster.Start("worker", 0);
  Process ps_1 = cluster.Start("ps", 1);
  Pause();
  Process ps_0 = cluster.Start("ps", 0);
  Process worker_1 = cluster.Start("worker", 1);
  ExpectExit(chief, 0);
  for (Process* member : {&ps_0, &ps_1, &worker_0, &worker_1}) {
    ExpectExit(*member, 0);
  }
  EXPECT_THAT(Column(job.Result(), "examples"), Each(kTrainExamples));
}

// What Kubeflow's TFJob starts: nobody is only a coordinator.
TEST(TfConfigTest, WithoutAChiefWorkerZeroLeads) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 0, 1, 2);
  Process ps = cluster.Start("ps", 0);
  Process worker_1 = cluster.Start("worker", 1);
  Pause();
  Process worker_0 = cluster.Start(
      "worker", 0, {"--job", job.path(), "--output", job.output_dir()});
  for (Process* task : {&worker_0, &worker_1, &ps}) ExpectExit(*task, 0);
  const nlohmann::json result = job.Result();
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result.at("state"), "SUCCEEDED");
  EXPECT_THAT(Column(result, "examples"), Each(kTrainExamples));
  EXPECT_TRUE(std::filesystem::exists(job.output_dir() + "/checkpoint"));
}

// It was told of another cluster, which has its place.
TEST(TfConfigTest, ATaskThatTheJobDoesNotHaveIsRefusedAndTheJobWaitsOn) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  Process chief = cluster.StartChief();
  HandStartedCluster::Addresses larger = {
      {"chief", {cluster.AddressOf("chief", 0)}},
      {"ps", {cluster.AddressOf("ps", 0)}},
      {"worker", FreeAddresses(100)}};
  const HandStartedCluster strangers(job, larger);
  Process stranger = strangers.Start("worker", 99);
  ExpectExit(stranger, 2);
  EXPECT_THAT(stranger.Errors(),
              HasSubstr("worker-99 is not in the cluster of this job"));
  Process ps = cluster.Start("ps", 0);
  Process worker_0 = cluster.Start("worker", 0);
  Process worker_1 = cluster.Start("worker", 1);
  for (Process* task : {&chief, &ps, &worker_0, &worker_1}) {
    ExpectExit(*task, 0);
  }
  EXPECT_EQ(job.Result().at("state"), "SUCCEEDED");
}

TEST(TfConfigTest, AJobGivenToAMemberMustBeThatOfTheLeader) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  {
    Process chief = cluster.StartChief();
    Process other =
        cluster.Start("worker", 1, {"--job", job.path(), "--set", "seed=8"});
    ExpectExit(chief, 2);
    EXPECT_THAT(chief.Errors(), HasSubstr(" is refused: it was given"));
    ExpectExit(other, 2);
    EXPECT_THAT(other.Errors(), HasSubstr("job"));
  }
  Process chief = cluster.StartChief();
  Process ps = cluster.Start("ps", 0);
  Process worker_0 = cluster.Start("worker", 0, {"--job", job.path()});
  Process worker_1 = cluster.Start("worker", 1, {"--job", job.path()});
  for (Process* task : {&chief, &ps, &worker_0, &worker_1}) {
    ExpectExit(*task, 0);
  }
}

TEST(TfConfigTest, BadEntriesAreNamed) {
  SmallJob job;
  const auto start = [&](const std::string& program,
                         const std::string& tf_config) {
    return Process({.command = {ProgramPath(program)},
                    .environment = {{"TF_CONFIG", tf_config}},
                    .output_path = job.folder() / "task"});
  };
  const auto expect = [](Process process, const std::string& message) {
    ExpectExit(process, 2);
    EXPECT_THAT(process.Errors(), HasSubstr(message));
  };
  expect(start("worker", ""), "TF_CONFIG");
  expect(start("worker", "{}"), "does not know its place");
  expect(start("worker", "{"), "TF_CONFIG");
  expect(
      start("ps_server", R"({"cluster": {"ps": ["a:1"], "worker": ["b:99999"]},
                                "task": {"type": "ps", "index": 0}})"),
      "b:99999");
  expect(start("worker", R"({"cluster": {"ps": ["a:1"], "worker": ["b:2"]},
                             "task": {"type": "worker", "index": 1}})"),
         "index");
  // A ps_server is no worker.
  expect(start("ps_server", R"({"cluster": {"ps": ["a:1"], "worker": ["b:2"]},
                                "task": {"type": "worker", "index": 0}})"),
         "worker");
}

// As TensorFlow has it.
TEST(TfConfigTest, AnEmptyObjectIsNoCluster) {
  SmallJob job;
  Process run({.command = {ProgramPath("coordinator"), "run", job.path(),
                           "--output", job.output_dir()},
               .environment = {{"TF_CONFIG", "{}"}},
               .output_path = job.folder() / "run"});
  ExpectExit(run, 0);
}

TEST(TfConfigTest, MissingTasksAreNamed) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 1);
  Process worker = cluster.Start("worker", 0, {"--start_timeout=1"});
  ExpectExit(worker, 1);
  EXPECT_THAT(worker.Errors(), HasSubstr(cluster.AddressOf("chief", 0)));
}

}  // namespace
}  // namespace paceline
