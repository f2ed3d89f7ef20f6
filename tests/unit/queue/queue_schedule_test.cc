// Which jobs start, and which wait behind which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/queue/queue_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

using QueueScheduleTest = QueueFixture;

Quota QuotaOf(int64_t cores, int64_t jobs) {
  Quota quota;
  quota.resources.millicores = 1000 * cores;
  quota.jobs = jobs;
  return quota;
}

TEST_F(QueueScheduleTest, AHigherPriorityStartsFirst) {
  AddDaemon("a", 4);
  const std::string running = Submit(JobOf(1, 4));
  const std::string low = Submit(JobOf(1, 4));
  v1::Submission urgent = JobOf(1, 4);
  urgent.set_priority(1);
  const std::string high = Submit(urgent);
  FollowAll();
  End("a", running, v1::TASK_TYPE_WORKER, 0);
  End("a", running, v1::TASK_TYPE_CHIEF, 0);
  FollowAll();
  FollowAll();
  EXPECT_EQ(StateOf(running), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(StateOf(low), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(StateOf(high), v1::JOB_STATE_RUNNING);
}

// A job that would fit now, and may run for ever, does not take the room for
// which the first job waits.
TEST_F(QueueScheduleTest, AJobWithoutATimeoutDoesNotDelayTheHead) {
  AddDaemon("a", 4);
  AddDaemon("b", 4);
  Submit(JobOf(1, 3));
  const std::string head = Submit(JobOf(2, 4));
  const std::string small = Submit(JobOf(1, 1));
  EXPECT_EQ(StateOf(head), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(StateOf(small), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->WhyQueued(head, now_),
            "waits for room: 2 workers of 4 cores each: room for 1 on 2 "
            "daemons");
  EXPECT_EQ(queue_->WhyQueued(small, now_),
            "waits behind job-2, for which the room is kept");
}

TEST_F(QueueScheduleTest, AJobStartsBesideThePlaceThatIsKept) {
  AddDaemon("a", 4);
  AddDaemon("b", 4);
  AddDaemon("c", 1);
  Submit(JobOf(1, 3));
  const std::string head = Submit(JobOf(2, 4));
  const std::string small = Submit(JobOf(1, 1));
  EXPECT_EQ(StateOf(head), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(StateOf(small), v1::JOB_STATE_STARTING);
  EXPECT_EQ(DaemonOf(small), "c");
}

TEST_F(QueueScheduleTest, AJobThatEndsInTimeMayTakeThePlace) {
  AddDaemon("a", 4);
  AddDaemon("b", 4);
  Submit(WithTimeout(JobOf(1, 3), absl::Hours(1)));
  const std::string head = Submit(JobOf(2, 4));
  const std::string longer = Submit(WithTimeout(JobOf(1, 1), absl::Hours(2)));
  const std::string shorter =
      Submit(WithTimeout(JobOf(1, 1), absl::Minutes(30)));
  EXPECT_EQ(StateOf(head), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(StateOf(longer), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(StateOf(shorter), v1::JOB_STATE_STARTING);
  EXPECT_THAT(queue_->WhyQueued(head, now_), HasSubstr("at the latest"));
}

// Small jobs come one after the other; the large one still gets its turn.
TEST_F(QueueScheduleTest, SmallJobsDoNotStarveALargeOne) {
  AddDaemon("a", 4);
  AddDaemon("b", 4);
  std::string small = Submit(JobOf(1, 2));
  const std::string large = Submit(JobOf(2, 4));
  for (int i = 0; i < 10; ++i) Submit(JobOf(1, 2));
  FollowAll();
  const std::string daemon = DaemonOf(small);
  End(daemon, small, v1::TASK_TYPE_WORKER, 0);
  End(daemon, small, v1::TASK_TYPE_CHIEF, 0);
  FollowAll();
  FollowAll();
  EXPECT_EQ(StateOf(large), v1::JOB_STATE_RUNNING);
}

// A job that no daemon could hold any more does not hold up the others.
TEST_F(QueueScheduleTest, AJobThatWaitsForADaemonHoldsNobodyUp) {
  AddDaemon("a", 4);
  AddDaemon("b", 8);
  Submit(JobOf(1, 8));
  const std::string large = Submit(JobOf(1, 8));
  ASSERT_EQ(queue_->DrainDaemon("b", true), absl::OkStatus());
  const std::string small = Submit(JobOf(1, 4));
  EXPECT_EQ(StateOf(large), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(StateOf(small), v1::JOB_STATE_STARTING);
  EXPECT_EQ(queue_->WhyQueued(large, now_),
            "waits for room: 1 worker of 8 cores each: room for 0 on 1 "
            "daemon");
}

TEST_F(QueueScheduleTest, AUserAtTheQuotaWaitsAlone) {
  options_.quotas["ann"] = QuotaOf(4, 2);
  Restart();
  AddDaemon("a", 16);
  v1::Submission of_ben = JobOf(1, 3);
  of_ben.set_user("ben");
  Submit(JobOf(1, 3));
  const std::string waits = Submit(JobOf(1, 3));
  const std::string other = Submit(of_ben);
  EXPECT_EQ(StateOf(waits), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(StateOf(other), v1::JOB_STATE_STARTING);
  EXPECT_EQ(queue_->WhyQueued(waits, now_),
            "waits for jobs of ann to end: the quota is 2 jobs, 4 cores; "
            "1 job with 3 cores in use");
  EXPECT_EQ(queue_->Submit(JobOf(1, 5), now_).status(),
            absl::ResourceExhaustedError(
                "the job needs 5 cores; the quota of ann is 2 jobs, 4 cores"));
}

TEST_F(QueueScheduleTest, OthersHaveAQuotaEach) {
  options_.quotas["ann"] = {};
  options_.quotas[kOtherUsers] = {.jobs = 1};
  Restart();
  AddDaemon("a", 16);
  std::string last;
  const auto submit = [&](const std::string& user) {
    v1::Submission submission = JobOf(1, 1);
    submission.set_user(user);
    last = Submit(submission);
    return StateOf(last);
  };
  EXPECT_EQ(submit("ben"), v1::JOB_STATE_STARTING);
  EXPECT_EQ(submit("ben"), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(queue_->WhyQueued(last, now_),
            "waits for jobs of ben to end: the quota is 1 job; 1 job with 1 "
            "core in use");
  EXPECT_EQ(submit("eve"), v1::JOB_STATE_STARTING);
  EXPECT_EQ(submit("ann"), v1::JOB_STATE_STARTING);
  EXPECT_EQ(submit("ann"), v1::JOB_STATE_STARTING);
}

TEST_F(QueueScheduleTest, AJobThatWaitsAndExceedsANewQuotaSaysSo) {
  AddDaemon("a", 4);
  Submit(JobOf(1, 4));
  const std::string waits = Submit(JobOf(1, 4));
  options_.quotas["ann"] = QuotaOf(2, 2);
  Restart();
  EXPECT_EQ(queue_->WhyQueued(waits, now_),
            "waits for a larger quota: it needs 4 cores; the quota of ann is "
            "2 jobs, 2 cores");
}

TEST_F(QueueScheduleTest, AQuotaOfNoJobsIsSaidAtOnce) {
  options_.quotas["ann"] = QuotaOf(4, 0);
  Restart();
  AddDaemon("a", 16);
  EXPECT_EQ(queue_->Submit(JobOf(1, 1), now_).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(QuotaTest, SaysWhatHasALimit) {
  EXPECT_EQ(Quota().ToString(), "any");
  Quota quota;
  quota.jobs = 1;
  quota.resources.memory_bytes = int64_t{8} << 30;
  quota.resources.gpus = 0;
  EXPECT_EQ(quota.ToString(), "1 job, 8 GiB, 0 GPUs");
  EXPECT_TRUE(quota.Allows(1, {.millicores = 1'000'000, .tasks = 1000}));
  EXPECT_FALSE(quota.Allows(2, {}));
  EXPECT_FALSE(quota.Allows(1, {.gpus = 1}));
}

// A daemon's message names its tasks, and has a limit.
TEST_F(QueueScheduleTest, ADaemonHoldsNotTooManyTasks) {
  AddDaemon("a", 16);
  AddDaemon("b", 16);
  EXPECT_THAT(
      std::string(queue_->Submit(JobOf(1000, 0), now_).status().message()),
      HasSubstr("room for 512 on 2 daemons"));
  Submit(JobOf(200, 0));
  Submit(JobOf(200, 0));
  const std::string third = Submit(JobOf(200, 0));
  // Two jobs, and their leaders.
  EXPECT_EQ(queue_->daemons().at("a").tasks.size() +
                queue_->daemons().at("b").tasks.size(),
            402);
  EXPECT_LE(queue_->daemons().at("a").tasks.size(), kMaxTasksOfDaemon);
  EXPECT_EQ(StateOf(third), v1::JOB_STATE_QUEUED);
}

// The job for which room is kept is stopped and deleted.
TEST_F(QueueScheduleTest, AReservationGoesWithItsJob) {
  AddDaemon("a", 4);
  AddDaemon("b", 4);
  Submit(JobOf(1, 3));
  const std::string head = Submit(JobOf(2, 4));
  const std::string small = Submit(JobOf(1, 1));
  ASSERT_EQ(queue_->StopJob(head, now_), absl::OkStatus());
  ASSERT_EQ(queue_->DeleteJob(head), absl::OkStatus());
  EXPECT_EQ(queue_->WhyQueued(small, now_), "is about to start");
  TakeActions();
  EXPECT_EQ(StateOf(small), v1::JOB_STATE_STARTING);
}

TEST_F(QueueScheduleTest, DaemonsOfAnotherVersionGetNoTasks) {
  v1::SyncRequest message = Message("old", 8);
  message.set_version("0");
  ASSERT_TRUE(queue_->Sync(message, now_).ok());
  // It may be replaced soon.
  const std::string id = Submit(JobOf(1, 1));
  EXPECT_THAT(queue_->WhyQueued(id, now_),
              HasSubstr("room for 0 on 0 daemons"));
}

}  // namespace
}  // namespace paceline
