// A daemon and a coordinator that this test plays, over real sockets; the
// programs are scripts.

#include "common/daemon/daemon.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/daemon/task_book.h"
#include "common/identity/sha256.h"
#include "common/rpc/rpc_server.h"
#include "gmock/gmock.h"
#include "tests/test_identity.h"
#include "tests/unit/daemon/fake_coordinator.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const HeldTask kLeader = {"job-1", 1, {TaskType::kChief, 0}};
const HeldTask kWorker = {"job-1", 1, {TaskType::kWorker, 0}};

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() {
    fs::remove_all(home_);
    fs::create_directories(home_ + "/programs");
    StartServer("127.0.0.1:0");
    AddFile("job.yaml", "model: small\n");
    options_.place.type = TaskType::kWorker;
    options_.place.coordinator = absl::StrCat("127.0.0.1:", server_->port());
    options_.place.version = "1";
    options_.place.program_folder = home_ + "/programs";
    options_.name = "node1-worker";
    options_.work_folder = home_ + "/work";
  }

  void AddFile(const std::string& path, const std::string& content) {
    MutexLock lock(books_.mutex);
    books_.files[path] = Sha256Hex(content);
    books_.contents[Sha256Hex(content)] = content;
  }
  void WriteProgram(const std::string& name, const std::string& script) {
    const std::string path = home_ + "/programs/" + name;
    std::ofstream(path) << "#!/bin/bash\n" << script;
    fs::permissions(path, fs::perms::owner_all);
  }
  v1::TaskOrder Order(const HeldTask& task) {
    v1::TaskOrder order;
    *order.mutable_task() = task.ToProto();
    order.set_secret("0123456789abcdef");
    if (!task.is_leader()) order.set_leader_address("127.0.0.1:9");
    return order;
  }
  void StartServer(const std::string& address) {
    auto server = StartTestServer(address, {&daemons_, &files_});
    CHECK(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  void SetOrders(const std::vector<v1::TaskOrder>& orders) {
    MutexLock lock(books_.mutex);
    books_.orders = orders;
  }

  // Plays the coordinator by `play` on a thread of its own, as the daemon has
  // the main thread; then ends the daemon.
  template <typename Play>
  absl::Status RunWith(Play play) {
    std::atomic<bool> is_done = false;
    std::thread player([&] {
      play();
      is_done = true;
    });
    bool was_signalled = false;
    const absl::Status status = RunDaemon(options_, [&] {
      return is_done && !std::exchange(was_signalled, true);
    });
    player.join();
    return status;
  }

  // Waits until `is_there`, which holds the lock of the books.
  template <typename Condition>
  void Await(const std::string& what, Condition is_there) {
    const absl::Time deadline = MonotonicNow() + absl::Seconds(30);
    while (MonotonicNow() < deadline) {
      {
        MutexLock lock(books_.mutex);
        if (is_there()) return;
      }
      absl::SleepFor(absl::Milliseconds(10));
    }
    ADD_FAILURE() << "waited in vain for " << what;
  }
  const v1::TaskReport* Report(const HeldTask& task)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(books_.mutex) {
    for (const v1::TaskReport& report : books_.last.tasks()) {
      if (*HeldTask::FromProto(report.task()) == task) return &report;
    }
    return nullptr;
  }
  void AwaitOver(const HeldTask& task) {
    Await(task.ToString() + " to be over",
          [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
            const v1::TaskReport* report = Report(task);
            return report != nullptr && report->state() == v1::TASK_STATE_OVER;
          });
  }

  const std::string home_ = ::testing::TempDir() + "daemon_test";
  Books books_;
  FakeDaemonService daemons_{books_};
  FakeFileService files_{books_};
  std::unique_ptr<RpcServer> server_;
  DaemonOptions options_;
};

TEST_F(DaemonTest, RunsATaskAndEndsItWhenItIsWithdrawn) {
  WriteProgram("worker",
               "trap 'echo leaves; exit 138' TERM\n"
               "echo \"$@\"; cat job.yaml; mkdir -p out\n"
               "echo 42 > out/result.json; echo 1 > out/half.tmp\n"
               "while true; do sleep 0.05; done\n");
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kWorker)});
    Await("a report and the log", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return Report(kWorker) != nullptr &&
             Report(kWorker)->state() == v1::TASK_STATE_RUNNING &&
             books_.logs["worker-0"].find("small") != std::string::npos;
    });
    SetOrders({});
    Await("the task to be forgotten", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.last.tasks().empty();
    });
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  EXPECT_THAT(books_.logs["worker-0"],
              AllOf(HasSubstr("--coordinator=127.0.0.1:9 --index=0 "
                              "--may_read=. --threads=1 "),
                    HasSubstr(" --listen=127.0.0.1:0 --lifetime_fd=")));
  EXPECT_THAT(books_.logs["worker-0"], HasSubstr("leaves"));
  EXPECT_EQ(books_.outputs["out/result.json"], "42\n");
  EXPECT_FALSE(books_.outputs.contains("out/half.tmp"));
  EXPECT_TRUE(books_.last.is_leaving());
}

TEST_F(DaemonTest, ALeaderTellsItsAddressAndItsEnd) {
  WriteProgram("coordinator",
               "trap 'mkdir -p out; echo done > out/x; exit 7' INT\n"
               "for option in \"$@\"; do case $option in --write_port=*)\n"
               "  echo 4321 > ${option#*=};; esac; done\n"
               "while true; do sleep 0.05; done\n");
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kLeader)});
    Await("the address", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return Report(kLeader) != nullptr &&
             Report(kLeader)->address() == "127.0.0.1:4321";
    });
    v1::TaskOrder stop = Order(kLeader);
    stop.set_should_stop(true);
    SetOrders({stop});
    AwaitOver(kLeader);
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  ASSERT_NE(Report(kLeader), nullptr);
  EXPECT_EQ(Report(kLeader)->exit_code(), 7);
  EXPECT_EQ(books_.outputs["out/x"], "done\n");
}

TEST_F(DaemonTest, ATaskWhoseFilesCannotBeFetchedIsOver) {
  AddFile("../outside", "x");
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kWorker)});
    AwaitOver(kWorker);
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  EXPECT_EQ(Report(kWorker)->exit_code(), 255);
  EXPECT_THAT(Report(kWorker)->error(), HasSubstr("../outside"));
  EXPECT_FALSE(fs::exists(home_ + "/work/jobs/job-1/outside"));
}

TEST_F(DaemonTest, ATaskGetsNoMoreMemoryThanItsOrderHasAndTellsWhatItTook) {
  WriteProgram("worker",
               "echo begins\n"
               "x=$(head -c 100000000 /dev/zero | tr '\\0' x)\n"
               "echo has all\n");
  const absl::Status status = RunWith([&] {
    v1::TaskOrder order = Order(kWorker);
    order.mutable_resources()->set_millicores(1000);
    order.mutable_resources()->set_memory_bytes(64 << 20);
    SetOrders({order});
    AwaitOver(kWorker);
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  ASSERT_NE(Report(kWorker), nullptr);
  EXPECT_NE(Report(kWorker)->exit_code(), 0);
  EXPECT_GT(Report(kWorker)->usage().cpu_micros(), 0);
  EXPECT_GT(Report(kWorker)->usage().peak_memory_bytes(), 0);
  EXPECT_THAT(books_.logs["worker-0"], HasSubstr("begins"));
  EXPECT_THAT(books_.logs["worker-0"], Not(HasSubstr("has all")));
}

TEST_F(DaemonTest, ASignalEndsTasksAndTellsTheirEnds) {
  WriteProgram("worker",
               "trap 'echo bye; exit 138' TERM\n"
               "echo hello; while true; do sleep 0.05; done\n");
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kWorker)});
    Await("the task", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.logs.contains("worker-0");
    });
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  ASSERT_NE(Report(kWorker), nullptr);
  EXPECT_EQ(Report(kWorker)->state(), v1::TASK_STATE_OVER);
  EXPECT_EQ(Report(kWorker)->exit_code(), 138);
  EXPECT_EQ(books_.logs["worker-0"], "hello\nbye\n");
}

// As if a signal ended the coordinator and its daemons at once. A leader that
// leaves tells its tasks that the job has ended.
TEST_F(DaemonTest, OneThatLeavesAloneHasItsSuccessorTell) {
  WriteProgram("coordinator",
               "trap 'exit 138' TERM\n"
               "echo begins; while true; do sleep 0.05; done\n");
  WriteProgram("worker",
               "trap 'exit 0' TERM\n"
               "echo begins; while true; do sleep 0.05; done\n");
  absl::Time left;
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kLeader), Order(kWorker)});
    Await("the task", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.logs.contains("worker-0") && books_.logs.contains("leader");
    });
    {
      MutexLock lock(books_.mutex);
      EXPECT_FALSE(books_.last.predecessor_left());
    }
    server_.reset();
    left = MonotonicNow();
  });
  EXPECT_TRUE(status.ok()) << status;
  // Not the 25 s for other ends; the sanitizers are slow.
  EXPECT_LT(MonotonicNow() - left, absl::Seconds(15));
  {
    MutexLock lock(books_.mutex);
    books_.last.Clear();
    books_.orders.clear();
  }
  StartServer(options_.place.coordinator);
  const absl::Status next = RunWith([&] {
    Await("the next daemon", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.last.predecessor_left();
    });
  });
  EXPECT_TRUE(next.ok()) << next;
}

// The success of a job is no departure: it waits for the coordinator.
TEST_F(DaemonTest, OneThatLeavesWithASuccessTellsItItself) {
  WriteProgram("coordinator",
               "trap 'exit 0' TERM\n"
               "echo begins; while true; do sleep 0.05; done\n");
  std::thread coordinator;
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kLeader)});
    Await("the task", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.logs.contains("leader");
    });
    server_.reset();
    coordinator = std::thread([&] {
      absl::SleepFor(absl::Seconds(6));
      StartServer(options_.place.coordinator);
    });
  });
  coordinator.join();
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  ASSERT_NE(Report(kLeader), nullptr);
  EXPECT_EQ(Report(kLeader)->state(), v1::TASK_STATE_OVER);
  EXPECT_EQ(Report(kLeader)->exit_code(), 0);
}

TEST_F(DaemonTest, TasksGoOnWithoutTheCoordinatorAndUnderItsNextProcess) {
  WriteProgram("worker",
               "trap 'exit 138' TERM\n"
               "echo begins; while true; do sleep 0.05; done\n");
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kWorker)});
    Await("the task", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.logs.contains("worker-0");
    });
    server_.reset();
    absl::SleepFor(absl::Milliseconds(300));
    {
      MutexLock lock(books_.mutex);
      books_.coordinator = 6;
      books_.last.Clear();
    }
    StartServer(options_.place.coordinator);
    Await("the task again", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return Report(kWorker) != nullptr && books_.last.coordinator() == 6;
    });
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  EXPECT_EQ(books_.logs["worker-0"], "begins\n");
}

// Also if it has not changed since the coordinator's last process.
TEST_F(DaemonTest, TheNextCoordinatorGetsTheProgress) {
  v1::JobProgress progress;
  progress.mutable_current()->set_steps_done(3);
  std::ofstream(home_ + "/progress") << progress.SerializeAsString();
  WriteProgram("coordinator",
               "trap 'exit 7' TERM\n"
               "for option in \"$@\"; do case $option in --write_progress=*)\n"
               "  cp " +
                   home_ +
                   "/progress ${option#*=};; esac; done\n"
                   "while true; do sleep 0.05; done\n");
  const auto await_progress = [&] {
    Await("the progress", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.progress.size() == 1;
    });
  };
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kLeader)});
    await_progress();
    server_.reset();
    {
      MutexLock lock(books_.mutex);
      books_.coordinator = 6;
      books_.progress.clear();
    }
    StartServer(options_.place.coordinator);
    await_progress();
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  ASSERT_EQ(books_.progress.size(), 1);
  EXPECT_EQ(books_.progress[0].current().steps_done(), 3);
}

TEST_F(DaemonTest, TasksGoOnWhileTheCoordinatorHasNoRoom) {
  WriteProgram("worker",
               "trap 'exit 138' TERM\n"
               "echo begins; mkdir -p out; echo 42 > out/result.json\n"
               "while true; do sleep 0.05; done\n");
  {
    MutexLock lock(books_.mutex);
    books_.refusal = absl::ResourceExhaustedError("the disk is full");
  }
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kWorker)});
    Await("refusals", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.refusals >= 2;
    });
    {
      MutexLock lock(books_.mutex);
      EXPECT_EQ(Report(kWorker)->state(), v1::TASK_STATE_RUNNING);
      books_.refusal = absl::OkStatus();
    }
    Await("the log", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.logs["worker-0"] == "begins\n";
    });
    SetOrders({});
    Await("the task to be forgotten", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.last.tasks().empty();
    });
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  EXPECT_EQ(books_.outputs["out/result.json"], "42\n");
}

TEST_F(DaemonTest, AnEndedTaskWaitsForRoomUntilTheDaemonLeaves) {
  WriteProgram("worker", "echo bye\n");
  {
    MutexLock lock(books_.mutex);
    books_.refusal = absl::ResourceExhaustedError("the disk is full");
  }
  absl::Time left;
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kWorker)});
    // Attempts for longer than other refusals are borne.
    Await("refusals", [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return books_.refusals >= 14;
    });
    MutexLock lock(books_.mutex);
    EXPECT_EQ(Report(kWorker)->state(), v1::TASK_STATE_RUNNING);
    left = MonotonicNow();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_LT(MonotonicNow() - left, absl::Seconds(10));
  MutexLock lock(books_.mutex);
  EXPECT_EQ(Report(kWorker)->state(), v1::TASK_STATE_OVER);
  EXPECT_EQ(Report(kWorker)->exit_code(), 0);
}

TEST_F(DaemonTest, ATaskTellsThatItsOutputsAreLost) {
  WriteProgram("worker", "mkdir -p out; echo 42 > out/result.json\n");
  {
    MutexLock lock(books_.mutex);
    books_.refusal = absl::InvalidArgumentError("a file may have 1 byte");
  }
  const absl::Status status = RunWith([&] {
    SetOrders({Order(kWorker)});
    AwaitOver(kWorker);
  });
  EXPECT_TRUE(status.ok()) << status;
  MutexLock lock(books_.mutex);
  EXPECT_EQ(Report(kWorker)->exit_code(), 0);
  EXPECT_THAT(Report(kWorker)->lost_outputs(),
              AllOf(HasSubstr("out/result.json: PutFile to "),
                    HasSubstr("a file may have 1 byte")));
}

TEST_F(DaemonTest, ALaterDaemonOfItsNameEndsIt) {
  const absl::Status status = RunDaemon(options_, [&] {
    MutexLock lock(books_.mutex);
    books_.error = absl::FailedPreconditionError("a later process");
    return false;
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("the coordinator at ",
                                     options_.place.coordinator)));
}

}  // namespace
}  // namespace paceline
