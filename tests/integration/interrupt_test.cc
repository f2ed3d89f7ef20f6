// How `coordinator run` is ended from outside, and that nothing outlives it.
#include <signal.h>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/hand_started_cluster.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class InterruptTest : public testing::TestWithParam<int> {};

TEST_P(InterruptTest, StopsTheJobInOrder) {
  SmallJob job;
  Process run = job.Run({"--set", "epochs=100000"});
  ASSERT_TRUE(WaitForEpochs(run, 2)) << run.Errors();
  run.Signal(GetParam());
  EXPECT_EQ(run.Wait(absl::Seconds(10 * kTimeScale)), 130) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
  const nlohmann::json result = job.Result();
  ASSERT_TRUE(result.is_object());
  EXPECT_EQ(result.at("state"), "STOPPED");
  EXPECT_GE(result.at("history").size(), 2);
  for (const auto& task : result.at("tasks")) {
    EXPECT_EQ(task.at("exit_code"), 0) << task;
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptTest,
                         testing::Values(SIGINT, SIGTERM));

TEST(InterruptBeforeStartTest, StopsAClusterThatStillGathers) {
  SmallJob job;
  Process run = job.Run({"--set", "epochs=100000"});
  ASSERT_TRUE(WaitUntil(kJobLimit, [&] { return run.Session().size() > 1; }));
  run.Signal(SIGINT);
  EXPECT_EQ(run.Wait(absl::Seconds(10 * kTimeScale)), 130) << run.Errors();
  EXPECT_THAT(run.Session(), IsEmpty());
}

TEST(InterruptLeadingWorkerTest, StopsTheOtherTasksToo) {
  SmallJob job;
  WriteText(job.path(), absl::StrReplaceAll(ReadText(job.path()),
                                            {{"epochs: 3", "epochs: 9999"}}));
  const auto cluster = HandStartedCluster::OnLoopback(job, 0, 1, 2);
  Process ps = cluster.Start("ps", 0);
  Process worker_1 = cluster.Start("worker", 1);
  Process leader = cluster.Start(
      "worker", 0, {"--job", job.path(), "--output", job.output_dir()});
  ASSERT_TRUE(WaitForEpochs(leader, 2)) << leader.Errors();
  leader.Signal(SIGINT);
  EXPECT_EQ(leader.Wait(absl::Seconds(10 * kTimeScale)), 130)
      << leader.Errors();
  EXPECT_EQ(ps.Wait(kJobLimit), 0) << ps.Errors();
  EXPECT_EQ(worker_1.Wait(kJobLimit), 0) << worker_1.Errors();
  EXPECT_EQ(job.Result().at("state"), "STOPPED");
}

TEST(KillTest, NothingSurvivesTheCoordinator) {
  SmallJob job;
  Process run = job.Run({"--set", "epochs=100000"});
  ASSERT_TRUE(WaitForEpochs(run, 1)) << run.Errors();
  EXPECT_THAT(run.Session(), SizeIs(4));
  run.Signal(SIGKILL);
  EXPECT_EQ(run.Wait(kJobLimit), 128 + SIGKILL);
  EXPECT_TRUE(
      WaitUntil(absl::Seconds(2), [&] { return run.Session().empty(); }));
}

}  // namespace
}  // namespace paceline
