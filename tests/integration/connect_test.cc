// `coordinator validate --connect`, and what a run checks before its first
// step: that all tasks agree, and reach each other.
#include <filesystem>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Process Connect(const SmallJob& job, const std::string& tf_config,
                const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> all = {"validate", job.path(), "--connect",
                                  "--output", job.folder() / "logs"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return job.Coordinator(all, tf_config);
}

TEST(ConnectTest, OnThisMachine) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>(),
        {"--set", "strategy=multi_worker_mirrored", "--set",
         "cluster={worker: 3}"},
        {"--set", "strategy=mirrored", "--set", "cluster=null"}}) {
    SmallJob job;
    Process connect = Connect(job, "", changes);
    ExpectExit(connect, 0);
    EXPECT_THAT(connect.Output(), HasSubstr("agree and are connected"));
    EXPECT_THAT(connect.Session(), IsEmpty());
    // Nothing was trained.
    EXPECT_FALSE(std::filesystem::exists(job.folder() / "logs/result.json"));
    EXPECT_THAT(connect.Output(), testing::Not(HasSubstr("Epoch")));
  }
}

TEST(ConnectTest, AChiefBringsItsClusterTogether) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 2, 2);
  Process ps_0 = cluster.Start("ps", 0);
  Process ps_1 = cluster.Start("ps", 1);
  Process worker_0 = cluster.Start("worker", 0);
  Process worker_1 = cluster.Start("worker", 1);
  Process connect = Connect(job, cluster.TfConfig("chief", 0));
  for (Process* task : {&connect, &ps_0, &ps_1, &worker_0, &worker_1}) {
    ExpectExit(*task, 0);
  }
  EXPECT_THAT(connect.Output(), HasSubstr(cluster.AddressOf("ps", 1)));
  EXPECT_THAT(connect.Output(), HasSubstr("all 4 tasks"));
}

TEST(ConnectTest, SoDoesAWorkerThatLeads) {
  for (const int ps_count : {0, 1}) {
    SmallJob job;
    const auto cluster = HandStartedCluster::OnLoopback(job, 0, ps_count, 3);
    std::vector<Process> others;
    if (ps_count > 0) others.push_back(cluster.Start("ps", 0));
    others.push_back(cluster.Start("worker", 1));
    others.push_back(cluster.Start("worker", 2));
    std::vector<std::string> changes;
    if (ps_count == 0) {
      changes = {"--set", "strategy=multi_worker_mirrored", "--set",
                 "cluster=null"};
    }
    Process connect = Connect(job, cluster.TfConfig("worker", 0), changes);
    ExpectExit(connect, 0);
    for (Process& task : others) ExpectExit(task, 0);
    EXPECT_THAT(connect.Output(),
                HasSubstr(ps_count > 0 ? "all 4 tasks" : "all 3 tasks"));
  }
}

TEST(ConnectTest, AMissingTaskIsNamed) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  Process ps = cluster.Start("ps", 0);
  Process worker_0 = cluster.Start("worker", 0);
  Process connect =
      Connect(job, cluster.TfConfig("chief", 0), {"--start_timeout=3"});
  ExpectExit(connect, 1);
  EXPECT_THAT(connect.Errors(),
              HasSubstr("worker-1 at " + cluster.AddressOf("worker", 1) +
                        " (it has not registered)"));
}

TEST(ConnectTest, ATaskThatWasToldOfAnotherClusterIsNamed) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  const std::string address = cluster.AddressOf("worker", 0);
  Process ps = cluster.Start("ps", 0);
  Process worker_1(
      {.command = {ProgramPath("worker")},
       .environment = {{"TF_CONFIG",
                        absl::StrReplaceAll(cluster.TfConfig("worker", 1),
                                            {{address, "10.9.9.9:1"}})},
                       {"PACELINE_JOB_SECRET", kTestSecret}},
       .output_path = job.folder() / "other"});
  const std::string difference =
      "worker-0 at 10.9.9.9:1 against worker-0 at " + address;
  Process chief = cluster.StartChief();
  ExpectExit(chief, 2);
  EXPECT_THAT(chief.Errors(), HasSubstr(difference));
  EXPECT_EQ(job.Result().at("error").at("task"), "worker-1");
  ExpectExit(worker_1, 2);
  EXPECT_THAT(worker_1.Errors(), HasSubstr(difference));
}

TEST(ConnectTest, TwoProcessesForOnePlaceAreNamed) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 2);
  Process chief = cluster.StartChief();
  Process ps = cluster.Start("ps", 0);
  Process first = cluster.Start("worker", 0);
  Process second = cluster.Start("worker", 0);
  ExpectExit(chief, 1);
  EXPECT_THAT(chief.Errors(),
              HasSubstr("two processes claim to be worker-0 at " +
                        cluster.AddressOf("worker", 0)));
}

// Found before step 1, though each task by itself could start.
TEST(ConnectTest, APsThatWorkersCannotReachIsNamed) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 1, 1, 1);
  // It listens elsewhere than all were told.
  Process ps(
      {.command = {ProgramPath("ps_server"),
                   "--coordinator=" + cluster.AddressOf("chief", 0),
                   "--index=0", "--listen=127.0.0.1:0"},
       .environment = {{"TF_CONFIG", ""}, {"PACELINE_JOB_SECRET", kTestSecret}},
       .output_path = job.folder() / "ps"});
  Process worker = cluster.Start("worker", 0);
  Process connect = Connect(job, cluster.TfConfig("chief", 0));
  ExpectExit(connect, 1);
  EXPECT_THAT(connect.Errors(),
              HasSubstr("ps-0 at " + cluster.AddressOf("ps", 0)));
}

}  // namespace
}  // namespace paceline
