// Tasks that a signal asks to leave their job.
#include <signal.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRestart = 138;
// A task that says goodbye is not waited for as long as a silent one.
constexpr absl::Duration kSoon = absl::Seconds(5 * kTimeScale);

// Whether the process has come so far that it takes the signal itself.
bool Takes(const Process& process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("SigBlk:", 0) != 0) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1;
  }
  return false;
}

class LeaveTest : public testing::Test {
 protected:
  void StartTasks(int workers) {
    ps_ = std::make_unique<Process>(cluster_.Start("ps", 0));
    for (int i = 0; i < workers; ++i) {
      workers_.push_back(cluster_.Start("worker", i));
    }
  }
  // Starts chief, ps and two workers; waits until two epochs have ended.
  void RunFor(int epochs, std::vector<std::string> changes = {}) {
    StartTasks(2);
    StartChief(epochs, changes);
    ASSERT_TRUE(WaitForEpochs(*chief_, 2)) << chief_->Errors();
  }
  void StartChief(int epochs, const std::vector<std::string>& changes = {}) {
    std::vector<std::string> arguments = {"--set",
                                          "epochs=" + std::to_string(epochs)};
    arguments.insert(arguments.end(), changes.begin(), changes.end());
    chief_ = std::make_unique<Process>(cluster_.StartChief(arguments));
  }
  void ExpectFailure(const std::string& task, absl::Duration limit) {
    EXPECT_EQ(chief_->Wait(limit), 1) << chief_->Errors();
    const nlohmann::json error = job_.Result().at("error");
    EXPECT_EQ(error.at("task"), task);
    EXPECT_THAT(error.at("message").get<std::string>(),
                HasSubstr("a signal asked it to leave"));
  }

  SmallJob job_;
  HandStartedCluster cluster_ = HandStartedCluster::OnLoopback(job_, 1, 1, 2);
  std::unique_ptr<Process> chief_;
  std::unique_ptr<Process> ps_;
  std::vector<Process> workers_;
};

class LeavingWorkerTest : public LeaveTest,
                          public testing::WithParamInterface<std::string> {};

TEST_P(LeavingWorkerTest, GivesItsLeasesBackAndMayReturn) {
  RunFor(150, {"--set", "consistency=" + GetParam()});
  workers_[1].Signal(SIGTERM);
  EXPECT_EQ(workers_[1].Wait(kSoon), kRestart) << workers_[1].Errors();
  EXPECT_TRUE(WaitUntil(kSoon, [&] {
    return chief_->Errors().find("its leases go to others") !=
           std::string::npos;
  })) << chief_->Errors();
  Process again = cluster_.Start("worker", 1);
  ASSERT_EQ(chief_->Wait(kJobLimit), 0) << chief_->Errors();
  EXPECT_THAT(chief_->Errors(), Not(HasSubstr("no heartbeat")));
  EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
  EXPECT_EQ(workers_[0].Wait(kJobLimit), 0) << workers_[0].Errors();
  EXPECT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_EQ(ps_->Wait(kJobLimit), 0) << ps_->Errors();
}

INSTANTIATE_TEST_SUITE_P(Consistency, LeavingWorkerTest,
                         testing::Values("async", "bounded"));

TEST_F(LeaveTest, BeforeTheStartThePlaceIsFreeAtOnce) {
  StartTasks(1);
  StartChief(3);
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
    return workers_[0].Errors().find("ready") != std::string::npos;
  })) << workers_[0].Errors();
  workers_[0].Signal(SIGTERM);
  EXPECT_EQ(workers_[0].Wait(kSoon), kRestart) << workers_[0].Errors();
  Process again = cluster_.Start("worker", 0);
  Process other = cluster_.Start("worker", 1);
  EXPECT_EQ(chief_->Wait(kJobLimit), 0) << chief_->Errors();
}

TEST_F(LeaveTest, WithoutALeaderATaskJustEnds) {
  StartTasks(1);
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
    return ps_->Errors().find("listening") != std::string::npos;
  })) << ps_->Errors();
  for (Process* task : {ps_.get(), &workers_[0]}) {
    ASSERT_TRUE(WaitUntil(kJobLimit, [&] { return Takes(*task, SIGTERM); }));
    task->Signal(SIGTERM);
    EXPECT_EQ(task->Wait(kSoon), kRestart) << task->Errors();
  }
}

TEST_F(LeaveTest, WorkersInStepCannotGoOnWithoutOne) {
  RunFor(100000, {"--set", "consistency=sync"});
  workers_[1].Signal(SIGTERM);
  ExpectFailure("worker-1", kSoon);
  EXPECT_EQ(workers_[1].Wait(kSoon), 0) << workers_[1].Errors();
}

// The checkpoint would be due much later.
TEST_F(LeaveTest, AJobLeavesACheckpointBeforeItsParameterServerEnds) {
  RunFor(100000, {"--set", "checkpoint.every_epochs=90000"});
  ps_->Signal(SIGTERM);
  ExpectFailure("ps-0", kSoon);
  EXPECT_EQ(ps_->Wait(kSoon), 0) << ps_->Errors();
  const size_t epochs = job_.Result().at("history").size();
  for (Process& worker : workers_) EXPECT_EQ(worker.Wait(kSoon), 0);

  workers_.clear();
  StartTasks(2);
  StartChief(static_cast<int>(epochs) + 2,
             {"--resume", "--set", "checkpoint.every_epochs=90000"});
  ASSERT_EQ(chief_->Wait(kJobLimit), 0) << chief_->Errors();
  EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
  EXPECT_EQ(job_.Result().at("history").size(), epochs + 2);
}

// Workers hold the variables, and the one that leads writes them.
TEST(LeaveRingTest, AWorkerLeavesACheckpoint) {
  SmallJob job;
  const auto cluster = HandStartedCluster::OnLoopback(job, 0, 0, 2);
  const auto lead = [&](const std::string& epochs,
                        std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "--job",    job.path(),
        "--output", job.output_dir(),
        "--set",    "strategy=multi_worker_mirrored",
        "--set",    "cluster={worker: 2}",
        "--set",    "checkpoint.every_epochs=90000",
        "--set",    "epochs=" + epochs};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cluster.Start("worker", 0, arguments);
  };
  Process leader = lead("100000", {});
  Process worker = cluster.Start("worker", 1);
  ASSERT_TRUE(WaitForEpochs(leader, 2)) << leader.Errors();
  worker.Signal(SIGTERM);
  EXPECT_EQ(leader.Wait(kSoon), 1) << leader.Errors();
  EXPECT_EQ(worker.Wait(kSoon), 0) << worker.Errors();
  EXPECT_EQ(job.Result().at("error").at("task"), "worker-1");
  const size_t epochs = job.Result().at("history").size();

  Process again = lead(std::to_string(epochs + 2), {"--resume"});
  Process other = cluster.Start("worker", 1);
  ASSERT_EQ(again.Wait(kJobLimit), 0) << again.Errors();
  EXPECT_THAT(Column(job.Result(), "examples"), Each(kTrainExamples));
  EXPECT_EQ(job.Result().at("history").size(), epochs + 2);
}

TEST_F(LeaveTest, ASecondSignalEndsATaskWithoutAGoodbye) {
  RunFor(100000);
  chief_->Signal(SIGSTOP);
  workers_[1].Signal(SIGTERM);
  ASSERT_TRUE(WaitUntil(kSoon, [&] {
    return workers_[1].Errors().find("asks this task") != std::string::npos;
  })) << workers_[1].Errors();
  workers_[1].Signal(SIGTERM);
  EXPECT_EQ(workers_[1].Wait(absl::Seconds(2 * kTimeScale)), kRestart);
  EXPECT_THAT(workers_[1].Errors(), HasSubstr("a second signal"));
}

}  // namespace
}  // namespace paceline
