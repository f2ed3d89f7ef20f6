// Tasks of `coordinator run` that die or hang: the failure floor on one
// machine.
#include <signal.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Epochs that last some seconds: long enough for a loss to come in the middle.
constexpr int kManyEpochs = 40;

class LocalClusterFailureTest : public testing::Test {
 protected:
  // Runs the job until two epochs have ended.
  void RunFor(int epochs, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--set",
                                          "epochs=" + std::to_string(epochs)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_ = std::make_unique<Process>(job_.Run(arguments));
    ASSERT_TRUE(WaitForEpochs(*run_, 2)) << run_->Errors();
  }
  void RunForever() { RunFor(100000); }

  pid_t PidOf(const std::string& program, int index) {
    return FindProcess(run_->Session(), program,
                       "--index=" + std::to_string(index));
  }

  void SignalTask(const std::string& program, int index, int signal) {
    const pid_t pid = PidOf(program, index);
    ASSERT_GT(pid, 0);
    kill(pid, signal);
  }

  // Whether the parameter server comes to share memory with so many workers.
  bool SharesMemoryWith(int workers) {
    const pid_t pid = PidOf("ps_server", 0);
    return WaitUntil(kFailureLimit, [pid, workers] {
      std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
      int regions = 0;
      for (std::string line; std::getline(maps, line);) {
        if (absl::StrContains(line, "memfd:paceline")) ++regions;
      }
      return regions == workers;
    });
  }

  int ExitCodeOf(const std::string& type, int index) const {
    const nlohmann::json result = job_.Result();
    for (const auto& task : result.at("tasks")) {
      if (task.at("type") == type && task.at("index") == index) {
        return task.at("exit_code").get<int>();
      }
    }
    return -1;
  }

  // Expects that the job fails in time, for one reason in stderr and
  // result.json, and that nothing is left. Returns the reason.
  std::string ExpectFailureOf(const std::string& task) {
    EXPECT_EQ(run_->Wait(kFailureLimit), 1) << run_->Errors();
    EXPECT_THAT(run_->Session(), IsEmpty());
    const nlohmann::json result = job_.Result();
    EXPECT_TRUE(result.is_object());
    if (!result.is_object()) return "";
    EXPECT_EQ(result.at("state"), "FAILED");
    const nlohmann::json& error = result.at("error");
    EXPECT_EQ(error.at("task"), task);
    std::string message = error.at("message");
    EXPECT_THAT(run_->Errors(), HasSubstr(message));
    EXPECT_GE(result.at("history").size(), 2);
    return message;
  }

  void ExpectSuccessWithEachExampleCountedOnce(int epochs) {
    ASSERT_EQ(run_->Wait(kFailureLimit + kJobLimit), 0) << run_->Errors();
    EXPECT_THAT(run_->Session(), IsEmpty());
    EXPECT_THAT(job_.Result().at("history"), SizeIs(epochs));
    EXPECT_THAT(Column(job_.Result(), "examples"), Each(kTrainExamples));
  }

  SmallJob job_;
  std::unique_ptr<Process> run_;
};

TEST_F(LocalClusterFailureTest, ParameterServerDies) {
  RunForever();
  SignalTask("ps_server", 0, SIGKILL);
  const std::string message = ExpectFailureOf("ps-0");
  EXPECT_THAT(message, HasSubstr("ps-0 at 127.0.0.1:"));
  EXPECT_EQ(ExitCodeOf("ps", 0), 128 + SIGKILL);
}

TEST_F(LocalClusterFailureTest, ParameterServerHangs) {
  RunForever();
  SignalTask("ps_server", 0, SIGSTOP);
  const std::string message = ExpectFailureOf("ps-0");
  EXPECT_THAT(message, HasSubstr("ps-0 at 127.0.0.1:"));
  EXPECT_THAT(message, HasSubstr(" waits for "));
}

TEST_F(LocalClusterFailureTest, OneOfTwoWorkersDies) {
  RunFor(kManyEpochs);
  EXPECT_TRUE(SharesMemoryWith(2));
  SignalTask("worker", 1, SIGKILL);
  EXPECT_TRUE(SharesMemoryWith(1));
  ExpectSuccessWithEachExampleCountedOnce(kManyEpochs);
  EXPECT_EQ(ExitCodeOf("worker", 1), 128 + SIGKILL);
  EXPECT_EQ(ExitCodeOf("worker", 0), 0);
  EXPECT_THAT(run_->Errors(), HasSubstr("worker-1"));
}

TEST_F(LocalClusterFailureTest, AWorkerThatPipelinesDies) {
  RunFor(kManyEpochs, {"--set", "pipeline=1"});
  SignalTask("worker", 1, SIGKILL);
  ExpectSuccessWithEachExampleCountedOnce(kManyEpochs);
  EXPECT_EQ(ExitCodeOf("worker", 1), 128 + SIGKILL);
}

TEST_F(LocalClusterFailureTest, OneOfTwoWorkersHangsAndWakesUp) {
  RunFor(kManyEpochs);
  SignalTask("worker", 1, SIGSTOP);
  ASSERT_TRUE(WaitUntil(kFailureLimit, [&] {
    return absl::StrContains(run_->Errors(), "worker-1");
  }));
  SignalTask("worker", 1, SIGCONT);
  ExpectSuccessWithEachExampleCountedOnce(kManyEpochs);
  // Its pushes and heartbeats were refused.
  EXPECT_EQ(ExitCodeOf("worker", 1), 1) << job_.Log("worker-1");
}

TEST_F(LocalClusterFailureTest, AllWorkersDie) {
  RunForever();
  SignalTask("worker", 0, SIGKILL);
  SignalTask("worker", 1, SIGKILL);
  EXPECT_EQ(run_->Wait(kFailureLimit), 1) << run_->Errors();
  EXPECT_THAT(run_->Errors(), HasSubstr("no worker is left: worker-"));
  EXPECT_THAT(job_.Result().at("error").at("task").get<std::string>(),
              testing::StartsWith("worker-"));
  EXPECT_THAT(run_->Session(), IsEmpty());
}

TEST_F(LocalClusterFailureTest, TasksOfAHungCoordinatorEnd) {
  RunForever();
  run_->Signal(SIGSTOP);
  EXPECT_TRUE(
      WaitUntil(kFailureLimit, [&] { return run_->Session().size() == 1; }));
  for (const char* task : {"ps-0", "worker-0", "worker-1"}) {
    EXPECT_THAT(job_.Log(task), HasSubstr("127.0.0.1:")) << task;
  }
}

// Where workers sum their gradients, no one can do without the other.
class MirroredFailureTest : public LocalClusterFailureTest {
 protected:
  void RunMirrored(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "--set", "strategy=multi_worker_mirrored",
        "--set", "cluster={worker: 3}",
        "--set", "epochs=100000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_ = std::make_unique<Process>(job_.Run(arguments));
    ASSERT_TRUE(WaitForEpochs(*run_, 2)) << run_->Errors();
  }
};

TEST_F(MirroredFailureTest, WorkerDies) {
  RunMirrored();
  SignalTask("worker", 1, SIGKILL);
  EXPECT_THAT(ExpectFailureOf("worker-1"), HasSubstr("worker-1 at 127.0.0.1:"));
}

TEST_F(MirroredFailureTest, WorkerHangs) {
  RunMirrored();
  SignalTask("worker", 2, SIGSTOP);
  EXPECT_THAT(ExpectFailureOf("worker-2"),
              ::testing::AllOf(HasSubstr("worker-2 at 127.0.0.1:"),
                               HasSubstr("sent no heartbeat")));
}

// Most of its time a worker waits for others' statistics.
TEST_F(MirroredFailureTest, WorkerDiesThatSharesStatistics) {
  RunMirrored({"--set",
               "model.layers=[Input: {shape: [8, 8, 1]}, Flatten: {},"
               " BatchNormalization: {synchronized: true}, Dense: {units: 4},"
               " BatchNormalization: {synchronized: true}]"});
  SignalTask("worker", 1, SIGKILL);
  EXPECT_THAT(ExpectFailureOf("worker-1"), HasSubstr("worker-1 at 127.0.0.1:"));
}

TEST_F(MirroredFailureTest, RankZeroDies) {
  RunMirrored();
  SignalTask("worker", 0, SIGKILL);
  ExpectFailureOf("worker-0");
}

}  // namespace
}  // namespace paceline
