// Jobs whose machines go away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/unit/queue/queue_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

using DepartureTest = QueueFixture;

// The leader's machine goes away: no fault of the job.
TEST_F(DepartureTest, ALeaderThatASignalEndsIsStartedAgain) {
  const std::string id = Run(Retried(0));
  EndWith(id, 138);
  Pass(absl::Seconds(10));
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(queue_->FindJob(id)->generation(), 2);
  EndWith(id, 130);
  Pass(absl::Seconds(10));
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(queue_->FindJob(id)->generation(), 3);
}

// What ends the leader each time is no machine.
TEST_F(DepartureTest, AJobThatIsAlwaysAskedToLeaveFailsInTheEnd) {
  options_.max_departures = 3;
  Restart();
  const std::string id = Run(Retried(1));
  const auto leave = [&](absl::Duration ran, int exit_code) {
    // Not in one step: the daemon would have been silent.
    for (const absl::Time end = now_ + ran; now_ < end; Follow("a")) {
      Pass(std::min<absl::Duration>(absl::Seconds(5), end - now_));
    }
    EndWith(id, exit_code);
    Restart();
    Follow("a");
    Pass(absl::Seconds(10));
    FollowAll();
  };
  leave(absl::Minutes(1), 138);
  leave(absl::Minutes(1), 130);
  EXPECT_EQ(queue_->FindJob(id)->departures(), 2);
  // One that has run for long has got somewhere.
  leave(options_.long_start, 138);
  EXPECT_EQ(queue_->FindJob(id)->departures(), 0);
  for (int i = 0; i < 3; ++i) leave(absl::Minutes(1), 138);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(queue_->FindJob(id)->failures(), 1);
  EXPECT_EQ(queue_->FindJob(id)->generation(), 7);
  leave(absl::Minutes(1), 138);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_EQ(queue_->FindJob(id)->error(),
            "the leader on a ended with exit code 138; 4 starts in a row were "
            "asked to leave within 10m");
}

TEST_F(DepartureTest, AJobWhoseStartMeetsALeavingDaemonIsStartedAgain) {
  AddDaemon("a", 4);
  const std::string id = Submit(Retried(0));
  Follow("a");
  Follow("a");
  End("a", id, v1::TASK_TYPE_WORKER, 138);
  messages_["a"].set_is_leaving(true);
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->FindJob(id)->failures(), 0);
  EXPECT_THAT(queue_->WhyQueued(id, now_), HasSubstr("the last start ended: "));
  messages_["a"].set_is_leaving(false);
  Follow("a");
  Pass(absl::Seconds(10));
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
}

// Nobody takes a machine away: it would be started for ever.
TEST_F(DepartureTest, ATaskThatEndsLikeOneThatLeavesHasFailed) {
  AddDaemon("a", 4);
  const std::string id = Submit(Retried(0));
  Follow("a");
  Follow("a");
  End("a", id, v1::TASK_TYPE_WORKER, 138);
  FollowAll();
  Pass(options_.start_failure_timeout + absl::Seconds(1));
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_FAILED);
  EXPECT_EQ(queue_->FindJob(id)->failures(), 1);
}

// The job may have been done when the other task left.
TEST_F(DepartureTest, TheLeadersWordCountsWhileAJobIsToStartAgain) {
  const std::pair<int, v1::JobState> cases[] = {{0, v1::JOB_STATE_SUCCEEDED},
                                                {2, v1::JOB_STATE_FAILED},
                                                {1, v1::JOB_STATE_QUEUED}};
  for (const auto& [exit_code, state] : cases) {
    const std::string id = Run(Retried(0));
    messages_["a"].set_is_leaving(true);
    End("a", id, v1::TASK_TYPE_WORKER, 138);
    Sync("a");
    EXPECT_EQ(StateOf(id), v1::JOB_STATE_ENDING);
    End("a", id, v1::TASK_TYPE_CHIEF, exit_code);
    FollowAll();
    EXPECT_EQ(StateOf(id), state) << exit_code;
    if (state == v1::JOB_STATE_QUEUED) {
      ASSERT_TRUE(queue_->StopJob(id, now_).ok());
    }
    messages_["a"].set_is_leaving(false);
    Follow("a");
  }
}

// The leader does not know of a worker that never reached it.
TEST_F(DepartureTest, AJobOfWhichATaskLeavesJustAfterTheStartIsStartedAgain) {
  for (const int exit_code : {138, 143}) {
    const std::string id = Run(Retried(0));
    Pass(options_.join_timeout - absl::Seconds(1));
    messages_["a"].set_is_leaving(true);
    End("a", id, v1::TASK_TYPE_WORKER, exit_code);
    FollowAll();
    FollowAll();
    EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
    EXPECT_EQ(queue_->FindJob(id)->failures(), 0);
    ASSERT_TRUE(queue_->StopJob(id, now_).ok());
    messages_["a"].set_is_leaving(false);
    Follow("a");
  }
}

// Later the leader decides, and so it does where no daemon leaves.
TEST_F(DepartureTest, AJobMayGoOnWithoutATaskThatLeaves) {
  const std::string id = Run(JobOf(2, 1));
  v1::TaskReport& first = *messages_["a"].mutable_tasks(1);
  ASSERT_EQ(first.task().task().type(), v1::TASK_TYPE_WORKER);
  first.set_state(v1::TASK_STATE_OVER);
  first.set_exit_code(138);
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
  Pass(options_.join_timeout);
  messages_["a"].set_is_leaving(true);
  End("a", id, v1::TASK_TYPE_WORKER, 138);
  FollowAll();
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_RUNNING);
}

TEST_F(DepartureTest, ALeaderThatASignalEndsBeforeItTakesAnyIsStartedAgain) {
  const std::string id = Run(Retried(0));
  messages_["a"].set_is_leaving(true);
  EndWith(id, 143);
  EXPECT_EQ(StateOf(id), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->FindJob(id)->failures(), 0);
}

}  // namespace
}  // namespace paceline
