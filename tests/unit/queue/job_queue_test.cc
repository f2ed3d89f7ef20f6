// The life of a job in the queue.
#include "coordinator/queue/job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/queue/queue_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

using JobQueueTest = QueueFixture;

TEST_F(JobQueueTest, TheLeaderStartsFirst) {
  AddDaemon("a", 4);
  const std::string id = Submit(JobOf(2, 1));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STARTING);
  v1::SyncResponse answer = Follow("a");
  ASSERT_EQ(answer.orders_size(), 1);
  EXPECT_EQ(answer.orders(0).task().task().type(), v1::TASK_TYPE_CHIEF);
  EXPECT_EQ(answer.orders(0).task().generation(), 1);
  answer = Follow("a");
  ASSERT_EQ(answer.orders_size(), 3);
  EXPECT_EQ(answer.orders(2).leader_address(), "host:1");
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STARTING);
  Follow("a");
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
}

TEST_F(JobQueueTest, TheLeadersEndIsTheJobsEnd) {
  const std::string id = Run(JobOf(1, 1));
  End("a", id, v1::TASK_TYPE_CHIEF, 0);
  Follow("a");
  // The worker is ended.
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
  EXPECT_EQ(Follow("a").orders_size(), 0);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(queue_->daemons().at("a").used, Resources());
}

TEST_F(JobQueueTest, WhatATaskTookIsInTheRecord) {
  const std::string id = Run(JobOf(1, 1));
  for (v1::TaskReport& report : *messages_["a"].mutable_tasks()) {
    if (report.task().task().type() != v1::TASK_TYPE_CHIEF) continue;
    report.mutable_usage()->set_cpu_micros(7);
    report.mutable_usage()->set_peak_memory_bytes(9);
  }
  Sync("a");
  EXPECT_FALSE(queue_->FindJob(id)->placements(0).has_usage());
  EndWith(id, 0);
  Restart();
  const v1::JobRecord& record = *queue_->FindJob(id);
  EXPECT_EQ(record.placements(0).usage().cpu_micros(), 7);
  EXPECT_EQ(record.placements(0).usage().peak_memory_bytes(), 9);
  EXPECT_FALSE(record.placements(1).has_usage());
}

TEST_F(JobQueueTest, ASubmissionWithAKnownKeyIsTheSameJob) {
  AddDaemon("a", 4);
  v1::Submission job = JobOf(1, 1);
  job.set_idempotency_key("key");
  const std::string id = Submit(job);
  EXPECT_EQ(Submit(job), id);
  Restart();
  EXPECT_EQ(Submit(job), id);
  job.set_retries(1);
  EXPECT_EQ(
      queue_->Submit(job, now_).status(),
      absl::AlreadyExistsError("idempotency_key: \"key\" is that of " + id +
                               ", which is another job; expected a new "
                               "key"));
  job.set_user("ben");
  EXPECT_NE(Submit(job), id);
}

TEST_F(JobQueueTest, AJobThatCanNeverFitIsRefusedAtOnce) {
  AddDaemon("a", 4);
  Submit(JobOf(1, 4));
  Submit(JobOf(1, 4));
  EXPECT_EQ(queue_->Submit(JobOf(2, 4), now_).status(),
            absl::FailedPreconditionError(
                "the job would not fit if no other ran: 2 workers of 4 cores "
                "each: room for 1 on 1 daemon"));
}

TEST_F(JobQueueTest, AJobThatFailedIsStartedAgainAfterAWhile) {
  const std::string id = Run(Retried(1));
  EndWith(id, 1);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->WhyQueued(id, now_),
            "starts again in 10s; the last start ended: the leader on a ended "
            "with exit code 1");
  Pass(absl::Seconds(9));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  Pass(absl::Seconds(1));
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(queue_->FindJob(id)->generation(), 2);
  EndWith(id, 1);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
}

TEST_F(JobQueueTest, ABadJobIsNotStartedAgain) {
  const std::string id = Run(Retried(5));
  EndWith(id, 2);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
}

TEST_F(JobQueueTest, AJobWhoseOutputsAreLostHasNotSucceeded) {
  const std::string id = Run(Retried(1));
  const auto end = [&] {
    for (v1::TaskReport& report : *messages_["a"].mutable_tasks()) {
      report.set_lost_outputs("the disk is full");
    }
    EndWith(id, 0);
  };
  end();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  Pass(absl::Seconds(10));
  FollowAll();
  end();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  Restart();
  EXPECT_EQ(queue_->FindJob(id)->error(),
            "the leader on a: outputs are lost: the disk is full");
  EXPECT_EQ(queue_->FindJob(id)->placements(1).lost_outputs(),
            "the disk is full");
}

// What the leader has left is all that counts.
TEST_F(JobQueueTest, AJobMayLoseWhatItsOtherTasksHaveLeft) {
  const std::string id = Run(JobOf(1, 1));
  for (v1::TaskReport& report : *messages_["a"].mutable_tasks()) {
    if (report.task().task().type() == v1::TASK_TYPE_WORKER) {
      report.set_lost_outputs("the disk is full");
    }
  }
  EndWith(id, 0);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(JobQueueTest, AJobThatDoesNotGetStartedFails) {
  AddDaemon("a", 4);
  const std::string id = Submit(JobOf(1, 1));
  Follow("a");
  messages_["a"].mutable_tasks(0)->clear_address();
  for (int i = 0; i < 11; ++i) {
    Pass(absl::Minutes(1));
    Sync("a");
  }
  messages_["a"].clear_tasks();
  Sync("a");
  Sync("a");
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_EQ(queue_->FindJob(id)->error(),
            "not all of its tasks were started within 10m");
}

TEST_F(JobQueueTest, AQueuedJobIsStoppedAtOnce) {
  Run(JobOf(1, 4));
  const std::string id = Submit(JobOf(1, 4));
  ASSERT_EQ(queue_->StopJob(id, now_), absl::OkStatus());
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(queue_->StopJob("no-job", now_),
            absl::NotFoundError("there is no job \"no-job\""));
}

TEST_F(JobQueueTest, ARunningJobIsAskedToStop) {
  const std::string id = Run(Retried(5));
  ASSERT_EQ(queue_->StopJob(id, now_), absl::OkStatus());
  EXPECT_TRUE(Follow("a").orders(0).should_stop());
  EndWith(id, 130);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STOPPED);
}

TEST_F(JobQueueTest, AJobThatDoesNotStopIsKilled) {
  const std::string id = Run(Retried(5));
  ASSERT_EQ(queue_->StopJob(id, now_), absl::OkStatus());
  const absl::Time stopped = now_;
  while (now_ < stopped + absl::Minutes(10)) {
    Pass(absl::Seconds(10));
    Follow("a");
  }
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  while (now_ < stopped + absl::Minutes(11)) {
    Pass(absl::Seconds(10));
    Follow("a");
  }
  Follow("a");
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STOPPED);
}

TEST_F(JobQueueTest, AJobThatTakesTooLongIsStopped) {
  const std::string id = Run(WithTimeout(Retried(5), absl::Minutes(2)));
  for (int i = 0; i < 11; ++i) {
    Pass(absl::Seconds(10));
    EXPECT_FALSE(Follow("a").orders(0).should_stop());
  }
  Pass(absl::Seconds(10));
  EXPECT_TRUE(Follow("a").orders(0).should_stop());
  EndWith(id, 130);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_EQ(queue_->FindJob(id)->error(), "took longer than its timeout of 2m");
}

// The time of a job that waits for its next start passes, too.
TEST_F(JobQueueTest, AJobThatWaitsForARetryTimesOut) {
  const std::string id = Run(WithTimeout(Retried(5), absl::Seconds(5)));
  EndWith(id, 1);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  Pass(absl::Seconds(6));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
}

TEST_F(JobQueueTest, ATaskThatIsLostWhileTheJobStartsEndsTheStart) {
  AddDaemon("a", 4);
  const std::string id = Submit(JobOf(2, 1));
  Follow("a");
  Follow("a");
  End("a", id, v1::TASK_TYPE_WORKER, 137);
  Follow("a");
  Pass(absl::Seconds(11));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_EQ(queue_->FindJob(id)->error(),
            "worker-0 on a ended with exit code 137");
}

TEST_F(JobQueueTest, ADaemonThatIsStartedAnewHasLostItsTasks) {
  const std::string id = Run(Retried(1));
  v1::SyncRequest& message = messages_["a"];
  message.set_incarnation(2);
  message.set_sequence(0);
  message.clear_tasks();
  EXPECT_EQ(Sync("a").orders_size(), 0);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->FindJob(id)->error(),
            "the leader on a: its daemon was started anew");
  // What the one before has sent comes late.
  message.set_incarnation(1);
  EXPECT_EQ(queue_->Sync(message, now_).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// The coordinator was away as the daemon left.
TEST_F(JobQueueTest, AJobWhoseDaemonLeftUnheardIsQueuedWithoutAFailure) {
  const std::string id = Run(JobOf(1, 1));
  v1::SyncRequest& message = messages_["a"];
  message.set_incarnation(2);
  message.set_predecessor_left(true);
  message.set_sequence(0);
  message.clear_tasks();
  EXPECT_EQ(Sync("a").orders_size(), 0);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->FindJob(id)->failures(), 0);
  // The new one does not leave.
  Pass(absl::Seconds(11));
  Follow("a");
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STARTING);
}

// What another folder tells is of other daemons.
TEST_F(JobQueueTest, AJobWhoseDaemonCrashedIsNoDepartureOfAnotherFolder) {
  const std::string id = Run(JobOf(1, 1));
  Pass(absl::Seconds(20));
  v1::SyncRequest other = Message("a", 4);
  other.set_incarnation(2);
  other.set_home(7);
  other.set_predecessor_left(true);
  other.clear_tasks();
  ASSERT_TRUE(queue_->Sync(other, now_).ok());
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_EQ(queue_->FindJob(id)->failures(), 1);
}

TEST_F(JobQueueTest, AnotherDaemonOfTheNameWaitsUntilTheFirstIsGone) {
  const std::string id = Run(JobOf(1, 1));
  v1::SyncRequest other = Message("a", 4);
  other.set_incarnation(2);
  other.set_home(7);
  other.clear_tasks();
  EXPECT_EQ(queue_->Sync(other, now_).status(),
            absl::UnavailableError("a: another daemon of this name is there; "
                                   "expected another --name"));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  Pass(absl::Seconds(20));
  EXPECT_TRUE(queue_->Sync(other, now_).ok());
}

TEST_F(JobQueueTest, AJobWaitsForTheFirstDaemonOfAType) {
  const std::string id = Submit(JobOf(1, 1));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  AddDaemon("a", 1);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STARTING);
}

TEST_F(JobQueueTest, NobodyWaitsForALeaderOfWhomNobodyHearsToStop) {
  AddDaemon("b", 1);
  const std::string id = Run(JobOf(1, 1));
  Pass(absl::Seconds(20));
  ASSERT_TRUE(queue_->StopJob(id, now_).ok());
  Pass(absl::Seconds(2));
  Pass(absl::Seconds(2));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STOPPED);
}

TEST_F(JobQueueTest, AnOldMessageIsRefused) {
  AddDaemon("a", 4);
  const v1::SyncRequest old = Message("a", 4);
  Sync("a");
  EXPECT_EQ(queue_->Sync(old, now_).status(),
            absl::AbortedError("a: message 2 came after 3"));
}

// A job whose daemon was silent starts elsewhere; but if the daemon comes back
// before that, not before it has ended the old tasks.
TEST_F(JobQueueTest, ATaskOfAnEarlierStartHoldsTheJobUp) {
  const std::string id = Run(Retried(5));
  EXPECT_EQ(queue_->WhyQueued(id, now_), "");
  Pass(absl::Minutes(1));
  EXPECT_THAT(queue_->WhyQueued(id, now_),
              testing::MatchesRegex(
                  "waits for daemon a, silent since 1970-01-12T13:46:4.Z, "
                  "which may still run its tasks; it is given up at "
                  "1970-01-12T13:51:4.Z"));
  Pass(absl::Minutes(5));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_TRUE(queue_->daemons().at("a").is_lost);
  EXPECT_EQ(Sync("a").orders_size(), 0);
  AddDaemon("b", 4);
  Pass(absl::Minutes(1));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->WhyQueued(id, now_),
            "waits until a has ended a task of an earlier start");
  messages_["a"].clear_tasks();
  Sync("a");
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STARTING);
}

TEST_F(JobQueueTest, AJobToStartAgainSaysForWhichSilentDaemonItWaits) {
  AddDaemon("a", 1);
  AddDaemon("b", 1);
  v1::Submission job = JobOf(2, 1);
  job.set_retries(1);
  const std::string id = Submit(job);
  const std::string leader = DaemonOf(id);
  FollowAll();
  End(leader, id, v1::TASK_TYPE_CHIEF, 1);
  Follow(leader);
  Follow(leader);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
  EXPECT_EQ(queue_->WhyQueued(id, now_), "");
  Pass(absl::Seconds(20));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
  EXPECT_THAT(queue_->WhyQueued(id, now_),
              HasSubstr("waits for daemon " + DaemonOf(id, 2) + ", silent"));
}

TEST_F(JobQueueTest, ADaemonThatComesBackAndIsLostHoldsNoJobUp) {
  const std::string id = Run(Retried(5));
  Pass(absl::Minutes(6));
  Sync("a");
  Pass(absl::Minutes(6));
  AddDaemon("b", 4);
  TakeActions();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_STARTING);
}

TEST_F(JobQueueTest, DaemonsThatAreGoneAreForgotten) {
  AddDaemon("lost", 4);
  for (const char* const name : {"leaving", "drained"}) {
    AddDaemon(name, 4);
    messages_[name].set_is_leaving(true);
    Sync(name);
  }
  ASSERT_TRUE(queue_->DrainDaemon("drained", true).ok());
  Restart();
  Pass(absl::Minutes(4));
  EXPECT_EQ(queue_->daemons().size(), 3);
  Pass(absl::Minutes(2));
  EXPECT_EQ(queue_->daemons().size(), 2);
  EXPECT_FALSE(queue_->daemons().contains("leaving"));
  Pass(absl::Hours(25));
  EXPECT_EQ(queue_->daemons().size(), 1);
  EXPECT_TRUE(queue_->daemons().contains("drained"));
}

TEST_F(JobQueueTest, AJobThatEndsForGoodDoesNotWaitForASilentDaemon) {
  AddDaemon("a", 1);
  AddDaemon("b", 1);
  const std::string id = Submit(JobOf(2, 1));
  const std::string leader = DaemonOf(id);
  const std::string other = DaemonOf(id, 2);
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  End(leader, id, v1::TASK_TYPE_CHIEF, 0);
  Follow(leader);
  Follow(leader);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
  Pass(absl::Seconds(20));
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_SUCCEEDED);
  // Nor does the daemon get the next one.
  Sync(leader);
  EXPECT_EQ(DaemonOf(Submit(JobOf(1, 1))), leader);
  const std::string next = Submit(JobOf(1, 1));
  EXPECT_EQ(StateOf(next), v1::JOB_STATE_QUEUED);
  // When it is back, it ends what it has first.
  EXPECT_EQ(Sync(other).orders_size(), 0);
  EXPECT_EQ(StateOf(next), v1::JOB_STATE_QUEUED);
  messages_[other].clear_tasks();
  Sync(other);
  EXPECT_EQ(DaemonOf(next), other);
}

// An order that was lost is withdrawn, and the task never starts.
TEST_F(JobQueueTest, ATaskThatWasNeverStartedEnds) {
  AddDaemon("a", 1);
  AddDaemon("b", 1);
  const std::string id = Submit(JobOf(2, 1));
  const std::string leader = DaemonOf(id);
  const std::string other = DaemonOf(id, 2);
  Follow(leader);
  Follow(leader);
  End(leader, id, v1::TASK_TYPE_WORKER, 1);
  End(leader, id, v1::TASK_TYPE_CHIEF, 1);
  Follow(leader);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
  // The answer to this does not order the task. An earlier one, which did,
  // could still be on its way.
  EXPECT_EQ(Sync(other).orders_size(), 0);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
  Sync(other);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
}

TEST_F(JobQueueTest, ADrainedDaemonKeepsItsTasksAndGetsNoOthers) {
  const std::string id = Run(JobOf(1, 1));
  ASSERT_EQ(queue_->DrainDaemon("a", true), absl::OkStatus());
  Restart();
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(queue_->Submit(JobOf(1, 1), now_).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(queue_->DrainDaemon("b", true).code(), absl::StatusCode::kNotFound);
}

TEST_F(JobQueueTest, OnlyAJobThatHasEndedIsDeleted) {
  const std::string id = Run(JobOf(1, 1));
  EXPECT_EQ(queue_->DeleteJob(id), absl::FailedPreconditionError(
                                       "job-1 has not ended; stop it first"));
  EndWith(id, 0);
  ASSERT_EQ(queue_->DeleteJob(id), absl::OkStatus());
  TakeActions();
  EXPECT_TRUE(records_.jobs.empty());
  EXPECT_EQ(queue_->FindJob(id), nullptr);
}

TEST_F(JobQueueTest, ALostDaemonIsForgottenInTheEnd) {
  AddDaemon("a", 4);
  Pass(absl::Hours(23));
  EXPECT_TRUE(records_.daemons.contains("a"));
  Pass(absl::Hours(2));
  EXPECT_FALSE(records_.daemons.contains("a"));
}

TEST_F(JobQueueTest, ThereAreNotTooManyDaemonsAndJobs) {
  options_.max_daemons = 1;
  options_.max_queued = 1;
  Restart();
  AddDaemon("a", 1);
  EXPECT_EQ(queue_->Sync(Message("b", 1), now_).status().code(),
            absl::StatusCode::kResourceExhausted);
  Submit(JobOf(1, 1));
  Submit(JobOf(1, 1));
  EXPECT_EQ(queue_->Submit(JobOf(1, 1), now_).status(),
            absl::ResourceExhaustedError("the queue is full: 1 jobs wait"));
}

}  // namespace
}  // namespace paceline
