// What is lost of a service while its jobs run, and what follows.
#include <signal.h>

#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/test_service.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class ServiceFailureTest : public testing::Test {
 protected:
  bool MembersAre(int count) {
    return WaitUntil(kJobLimit, [&] {
      const std::vector<std::string> members =
          Lines(service_.Run({"members", "-o", "name"}));
      return static_cast<int>(members.size()) == count;
    });
  }

  std::string Submit(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"submit", job_.path()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::string(absl::StripSuffix(service_.Run(all), "\n"));
  }

  // Whether the job's leader has told of the end of an epoch.
  bool HasTrained(const std::string& id) {
    if (!service_.WaitForState(id, {"RUNNING"})) return false;
    return WaitUntil(kJobLimit, [&] {
      return service_.Run({"logs", id}).find("/step - ") != std::string::npos;
    });
  }

  SmallJob job_;
  TestService service_;
};

// Jobs are submitted while the coordinator is killed again and again: before it
// has stored a submission or after, while it starts jobs, and while it learns
// of their end. PACELINE_KILLS sets how often; tests/benchmark/service.py reads
// the counts.
TEST_F(ServiceFailureTest, NoJobIsLostOrRunTwiceWhenTheCoordinatorDies) {
  const char* const wanted = std::getenv("PACELINE_KILLS");
  int kills = 50 / kTimeScale;
  if (wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &kills));
  }
  const Process daemon = service_.StartDaemon("worker", "worker-daemon");
  ASSERT_TRUE(MembersAre(1)) << daemon.Errors();

  std::minstd_rand random(7);
  std::deque<Process> submissions;
  int submitted = 0;
  for (int i = 0; i < kills; ++i) {
    // Two at a time, whose answers may be lost.
    while (submissions.size() < 2) {
      submissions.push_back(service_.Start(
          {"submit", job_.path(), "--set", "strategy=mirrored", "--set",
           "cluster={worker: 1}", "--set", "epochs=1", "--idempotency-key",
           absl::StrCat("key-", submitted++)}));
    }
    absl::SleepFor(absl::Milliseconds(random() % (400 * kTimeScale)));
    service_.KillCoordinator();
    service_.StartCoordinator();
    if (submissions.front().Wait(absl::ZeroDuration())) submissions.pop_front();
  }
  for (Process& submission : submissions) ExpectExit(submission, 0);

  const std::vector<std::string> ids =
      Lines(service_.Run({"list", "--limit", "0", "-o", "name"}));
  EXPECT_EQ(static_cast<int>(ids.size()), submitted);
  int started_once = 0;
  for (const std::string& id : ids) {
    service_.Run({"wait", id});
    const int starts = service_.Describe(id).value("starts", 0);
    EXPECT_EQ(starts, 1) << id;
    // The daemon tells of each process.
    int leaders = 0;
    for (const std::string& line : Lines(daemon.Errors())) {
      if (absl::StrContains(line, absl::StrCat("leader of ", id, " runs"))) {
        ++leaders;
      }
    }
    EXPECT_EQ(leaders, 1) << id;
    started_once += starts == 1 && leaders == 1 ? 1 : 0;
  }
  RecordProperty("kills", kills);
  RecordProperty("submitted", submitted);
  RecordProperty("there_at_the_end", static_cast<int>(ids.size()));
  RecordProperty("started_once", started_once);
}

TEST_F(ServiceFailureTest, AJobGoesOnWithoutTheCoordinator) {
  const Process ps = service_.StartDaemon("ps_server", "ps-daemon");
  const Process worker = service_.StartDaemon("worker", "worker-daemon");
  ASSERT_TRUE(MembersAre(2)) << ps.Errors() << worker.Errors();
  const std::string id = Submit({"--set", "epochs=40"});
  ASSERT_TRUE(HasTrained(id));
  service_.KillCoordinator();
  const std::string log =
      service_.folder() /
      absl::StrCat("ps-daemon/jobs/", id, "/logs/1/leader.log");
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return ReadText(log).find("Epoch 40/40") != std::string::npos;
  })) << ReadText(log);
  service_.StartCoordinator();
  service_.Run({"wait", id});
  EXPECT_THAT(service_.Run({"logs", id}), HasSubstr("Epoch 40/40"));
  EXPECT_EQ(service_.Describe(id).value("starts", 0), 1);
}

// As README says: `kill %1 %2 %3`, and the same commands again.
TEST_F(ServiceFailureTest, AJobGoesOnAfterTheWholeServiceWasEnded) {
  Process ps = service_.StartDaemon("ps_server", "ps-daemon");
  Process worker = service_.StartDaemon("worker", "worker-daemon");
  ASSERT_TRUE(MembersAre(2)) << ps.Errors() << worker.Errors();
  const std::string id = Submit({"--set", "epochs=100000"});
  ASSERT_TRUE(HasTrained(id));
  service_.KillCoordinator();
  ps.Signal(SIGTERM);
  worker.Signal(SIGTERM);
  // While nobody hears them.
  EXPECT_EQ(ps.Wait(kJobLimit), 0) << ps.Errors();
  EXPECT_EQ(worker.Wait(kJobLimit), 0) << worker.Errors();
  service_.StartCoordinator();
  const Process next_ps = service_.StartDaemon("ps_server", "ps-daemon");
  const Process next = service_.StartDaemon("worker", "worker-daemon");
  EXPECT_TRUE(WaitUntil(kJobLimit,
                        [&] {
                          const nlohmann::json job = service_.Describe(id);
                          return job.value("starts", 0) == 2 &&
                                 job.value("state", "") == "RUNNING";
                        }))
      << service_.Describe(id) << next_ps.Errors() << next.Errors();
  EXPECT_EQ(service_.Describe(id).value("failures", 1), 0);
}

TEST_F(ServiceFailureTest, AnAsynchronousJobOutlivesTheDaemonOfAWorker) {
  const Process ps = service_.StartDaemon("ps_server", "ps-daemon");
  const Process first = service_.StartDaemon("worker", "first", 1);
  const Process second = service_.StartDaemon("worker", "second", 1);
  ASSERT_TRUE(MembersAre(3)) << ps.Errors() << first.Errors();
  const std::string id = Submit({"--set", "epochs=60"});
  ASSERT_TRUE(HasTrained(id));
  second.Signal(SIGKILL);
  service_.Run({"wait", id});
  EXPECT_EQ(service_.Describe(id).value("starts", 0), 1);
}

TEST_F(ServiceFailureTest, AJobWhoseLeaderDiesStartsAgainFromItsCheckpoint) {
  const Process ps = service_.StartDaemon("ps_server", "ps-daemon");
  const Process worker = service_.StartDaemon("worker", "worker-daemon");
  ASSERT_TRUE(MembersAre(2)) << ps.Errors() << worker.Errors();
  const std::string id = Submit({"--set", "epochs=300", "--retries", "1"});
  ASSERT_TRUE(HasTrained(id));
  absl::SleepFor(absl::Milliseconds(300));
  const pid_t leader = FindProcess(ps.Session(), "coordinator", "lead");
  ASSERT_GT(leader, 0);
  kill(leader, SIGKILL);
  service_.Run({"wait", id});
  const nlohmann::json view = service_.Describe(id);
  EXPECT_EQ(view.value("starts", 0), 2);
  EXPECT_THAT(service_.Run({"logs", id}),
              HasSubstr("hold the variables of out/checkpoint"));
}

// Its machine is taken away: no fault of the job, which may not be retried.
TEST_F(ServiceFailureTest, AJobInStepGoesOnWithoutADaemonThatLeaves) {
  const Process ps = service_.StartDaemon("ps_server", "ps-daemon");
  const Process first = service_.StartDaemon("worker", "first", 1);
  Process second = service_.StartDaemon("worker", "second", 1);
  ASSERT_TRUE(MembersAre(3)) << ps.Errors() << first.Errors();
  const std::string id =
      Submit({"--set", "epochs=100000", "--set", "consistency=sync", "--set",
              "checkpoint.every_epochs=90000"});
  ASSERT_TRUE(HasTrained(id));
  second.Signal(SIGTERM);
  EXPECT_EQ(second.Wait(kJobLimit), 0) << second.Errors();
  ASSERT_TRUE(service_.WaitForState(id, {"QUEUED"})) << service_.Describe(id);
  EXPECT_EQ(service_.Describe(id).value("failures", 1), 0);
  const Process third = service_.StartDaemon("worker", "third", 1);
  EXPECT_TRUE(WaitUntil(kJobLimit, [&] {
    return service_.Run({"logs", id})
               .find("hold the variables of out/checkpoint") !=
           std::string::npos;
  })) << service_.Run({"logs", id});
  EXPECT_EQ(service_.Describe(id).value("starts", 0), 2);
}

// The leader would wait for it for minutes.
TEST_F(ServiceFailureTest, AJobWhoseWorkerLeavesBeforeItJoinsIsQueuedAgain) {
  const Process ps = service_.StartDaemon("ps_server", "ps-daemon");
  Process worker = service_.StartDaemon("worker", "worker-daemon");
  ASSERT_TRUE(MembersAre(2)) << ps.Errors() << worker.Errors();
  const std::string id = Submit({"--set", "cluster.worker=1"});
  pid_t task = -1;
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] {
    task = FindProcess(worker.Session(), "worker", "--index=0");
    return task > 0;
  })) << worker.Errors();
  kill(task, SIGSTOP);
  ASSERT_TRUE(service_.WaitForState(id, {"RUNNING"}));
  worker.Signal(SIGTERM);
  absl::SleepFor(absl::Milliseconds(500));
  kill(task, SIGCONT);
  EXPECT_EQ(worker.Wait(kJobLimit), 0) << worker.Errors();
  ASSERT_TRUE(service_.WaitForState(id, {"QUEUED"})) << service_.Describe(id);
  EXPECT_EQ(service_.Describe(id).value("failures", 1), 0);
}

TEST_F(ServiceFailureTest, AJobWhoseLastWorkerLeavesIsQueuedAgain) {
  const Process ps = service_.StartDaemon("ps_server", "ps-daemon");
  Process worker = service_.StartDaemon("worker", "worker-daemon");
  ASSERT_TRUE(MembersAre(2)) << ps.Errors() << worker.Errors();
  const std::string id = Submit({"--set", "epochs=100000"});
  ASSERT_TRUE(HasTrained(id));
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(kJobLimit), 0) << worker.Errors();
  ASSERT_TRUE(service_.WaitForState(id, {"QUEUED"})) << service_.Describe(id);
  EXPECT_EQ(service_.Describe(id).value("failures", 1), 0);
}

}  // namespace
}  // namespace paceline
