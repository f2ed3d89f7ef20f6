// A queue from the records of an earlier one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/queue/queue_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

using QueueRestoreTest = QueueFixture;

TEST_F(QueueRestoreTest, GoesOnWhereTheOtherWas) {
  AddDaemon("a", 4);
  const std::string running = Submit(JobOf(1, 4));
  const std::string waiting = Submit(JobOf(1, 4));
  FollowAll();
  Restart();
  EXPECT_EQ(StateOf(running), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(StateOf(waiting), v1::JOB_STATE_QUEUED);
  // Numbers go on, too.
  EXPECT_EQ(Submit(JobOf(1, 1)), "job-3");
  FollowAll();
  EXPECT_EQ(queue_->FindJob(running)->generation(), 1);
  End("a", running, v1::TASK_TYPE_CHIEF, 0);
  End("a", running, v1::TASK_TYPE_WORKER, 0);
  FollowAll();
  FollowAll();
  EXPECT_EQ(StateOf(running), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(StateOf(waiting), v1::JOB_STATE_RUNNING);
}

// An id names one job, also after the job was deleted.
TEST_F(QueueRestoreTest, NoIdIsUsedTwice) {
  AddDaemon("a", 4);
  const std::string id = Submit(JobOf(1, 4));
  ASSERT_EQ(queue_->StopJob(id, now_), absl::OkStatus());
  FollowAll();
  End("a", id, v1::TASK_TYPE_CHIEF, 130);
  End("a", id, v1::TASK_TYPE_WORKER, 130);
  FollowAll();
  ASSERT_EQ(queue_->DeleteJob(id), absl::OkStatus());
  Restart();
  EXPECT_EQ(Submit(JobOf(1, 4)), "job-2");
}

// The place that was kept for the first job is not given away because some
// daemons report later than others.
TEST_F(QueueRestoreTest, NothingStartsBeforeAllDaemonsHaveReported) {
  AddDaemon("a", 4);
  AddDaemon("b", 4);
  const std::string running = Submit(JobOf(1, 3));
  const std::string head = Submit(JobOf(2, 4));
  const std::string small = Submit(JobOf(1, 1));
  FollowAll();
  Restart();
  Sync("b");
  EXPECT_EQ(StateOf(small), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->WhyQueued(small, now_),
            "waits for daemons to report what they hold");
  Sync("a");
  Pass(absl::Seconds(1));
  EXPECT_EQ(StateOf(small), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(queue_->WhyQueued(small, now_), HasSubstr("waits behind"));
}

TEST_F(QueueRestoreTest, ADaemonThatDoesNotReportHoldsNobodyUpForLong) {
  AddDaemon("a", 4);
  AddDaemon("b", 4);
  Restart();
  Sync("b");
  const std::string id = Submit(JobOf(1, 4));
  Pass(absl::Seconds(10));
  Sync("b");
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  Pass(absl::Seconds(5));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STARTING);
}

// A message to the queue before may be older than what is stored.
TEST_F(QueueRestoreTest, AMessageForTheOneBeforeChangesNothing) {
  AddDaemon("a", 4);
  const std::string id = Submit(JobOf(1, 4));
  const v1::SyncRequest old = Message("a", 4);
  FollowAll();
  ASSERT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  options_.incarnation = kCoordinator;
  Restart();
  v1::SyncRequest late = old;
  late.set_coordinator(kCoordinator - 1);
  const auto answer = queue_->Sync(late, now_);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->coordinator(), kCoordinator);
  EXPECT_EQ(answer->orders_size(), 0);
  TakeActions();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
}

TEST_F(QueueRestoreTest, TasksAreLostIfTheirDaemonDoesNotComeBack) {
  AddDaemon("a", 4);
  const std::string id = Submit(JobOf(1, 4));
  FollowAll();
  Pass(absl::Minutes(4));
  Restart();
  Pass(absl::Minutes(4));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  Pass(absl::Minutes(2));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_THAT(queue_->FindJob(id)->error(),
              HasSubstr("the leader on a: its daemon was silent for 6m"));
}

TEST_F(QueueRestoreTest, RefusesRecordsThatNoQueueHasStored) {
  AddDaemon("a", 4);
  const std::string id = Submit(JobOf(1, 4));
  FollowAll();
  const std::vector<v1::DaemonRecord> daemons = {records_.daemons.at("a")};
  const struct {
    std::function<void(v1::JobRecord&)> change;
    std::string error;
  } refusals[] = {
      {[](auto& r) { r.set_state(v1::JOB_STATE_ENDING); },
       "its tasks do not fit state 4, then 0, generation 1"},
      {[](auto& r) { r.set_state(v1::JOB_STATE_QUEUED); }, "fit state 1"},
      {[](auto& r) { r.mutable_placements(0)->set_state(v1::TASK_STATE_OVER); },
       "fit state 3"},
      {[](auto& r) {
         r.clear_generation();
         r.clear_placements();
       },
       "generation 0"},
      {[](auto& r) { r.clear_number(); }, "number 0"},
      {[](auto& r) { r.mutable_placements()->RemoveLast(); },
       "1 tasks instead of 2"},
      {[](auto& r) { r.mutable_placements()->SwapElements(0, 1); },
       "task 0 is not chief-0 with a daemon and a state"},
      {[](auto& r) { r.mutable_placements(1)->set_daemon("b"); },
       "a task is on b, in an incarnation that is not stored"},
      {[](auto& r) { r.mutable_placements(1)->set_incarnation(9); },
       "a task is on a, in an incarnation that is not stored"},
      {[](auto& r) { r.mutable_submission()->clear_groups(); }, "groups: 0"},
  };
  for (const auto& refusal : refusals) {
    v1::JobRecord record = records_.jobs.at(id);
    refusal.change(record);
    const absl::Status status =
        JobQueue::Create(options_, {record}, daemons, 1, now_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << refusal.error;
    EXPECT_THAT(std::string(status.message()), HasSubstr(refusal.error));
  }
  EXPECT_EQ(
      JobQueue::Create(options_, {records_.jobs.at(id), records_.jobs.at(id)},
                       daemons, 1, now_)
          .status()
          .code(),
      absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace paceline
