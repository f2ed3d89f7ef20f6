// What a session that has started does when members are lost or disagree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using SessionFailuresTest = SessionTest;

TEST_F(SessionFailuresTest, DeadWorkerIsFencedAndTheRestOfItsLeasesReturns) {
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(Beat(kWorker0, {ReportOf(*lease, 50)}).ok());
  session_->TakeActions();
  Pass(absl::Seconds(9), {kWorker0});
  const auto fence = Take<FenceWorker>();
  ASSERT_TRUE(fence);
  EXPECT_EQ(fence->worker.rank(), 0);
  EXPECT_EQ(fence->worker.incarnation(), incarnations_[kWorker0]);
  EXPECT_EQ(Beat(kWorker0).status().code(),
            absl::StatusCode::kFailedPrecondition);

  // Until the fence is up, its examples are nobody's.
  const int64_t others = WorkUntilIdle(kWorker1);
  EXPECT_EQ(others, 1000 - static_cast<int64_t>(lease->end()));
  EXPECT_TRUE(session_->history().empty());

  session_->Fenced(fence->worker, ShardKnows(ReportOf(*lease, 70)), now_);
  EXPECT_EQ(WorkUntilIdle(kWorker1), static_cast<int64_t>(lease->end()) - 70);
  ASSERT_EQ(session_->history().size(), 1);
  EXPECT_EQ(session_->history()[0].examples, 1000);
  EXPECT_EQ(session_->history()[0].steps, 100);
  EXPECT_TRUE(session_->ended());
}

// The worker was lost in its first step, after an early push.
TEST_F(SessionFailuresTest, ExamplesWithoutSumsShowNoLoss) {
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  Pass(absl::Seconds(9), {kWorker0});
  const auto fence = Take<FenceWorker>();
  ASSERT_TRUE(fence);
  v1::LeaseReport report = ReportOf(*lease, 10);
  report.clear_sums();
  session_->Fenced(fence->worker, ShardKnows(report), now_);
  EXPECT_EQ(session_->Progress().steps_done, 1);
  EXPECT_TRUE(session_->Progress().logs.empty());
}

TEST_F(SessionFailuresTest, NewIncarnationWaitsForTheFence) {
  Start();
  Acquire(kWorker0);
  const v1::WorkerId old = WorkerIdOf(kWorker0);
  Restart(kWorker0);
  auto refused = Register(kWorker0);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr("worker-0 at host-a:1"), HasSubstr("is held")));
  Pass(absl::Seconds(9), {kWorker0});
  EXPECT_EQ(Register(kWorker0).status().code(), absl::StatusCode::kUnavailable);
  session_->Fenced(old, std::vector<v1::FenceResponse>(1), now_);
  EXPECT_EQ(Register(kWorker0)->rank(), 0);
  EXPECT_FALSE(Acquire(kWorker0)) << "it has not read its data";
  ASSERT_TRUE(AwaitStart(kWorker0)->has_value());
  EXPECT_TRUE(Acquire(kWorker0));

  // What the network repeats of the old one changes nothing.
  incarnations_[kWorker0] = old.incarnation();
  EXPECT_EQ(Register(kWorker0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(TryAcquire(kWorker0, 1).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionFailuresTest, StuckWorkerIsTakenForDead) {
  Start();
  Acquire(kWorker0);
  v1::HeartbeatRequest same;
  *same.mutable_member() = MemberOf(kWorker0);
  same.set_activity(1000);
  for (int i = 0; i < 61 * 4; ++i) {
    Pass(absl::Milliseconds(250), {kWorker0});
    session_->Heartbeat(same, now_).IgnoreError();
  }
  const auto fence = Take<FenceWorker>();
  ASSERT_TRUE(fence);
  EXPECT_EQ(fence->worker.rank(), 0);
  EXPECT_FALSE(session_->ended());
}

// Under bounded staleness a worker waits for one that hangs; that one alone is
// lost, though the other has stood still for longer.
TEST_F(SessionFailuresTest, WhoWaitedForALostWorkerIsNotLostWithIt) {
  options_.job.set_consistency(v1::CONSISTENCY_BOUNDED);
  Start();
  ASSERT_TRUE(Acquire(kWorker0));
  ASSERT_TRUE(Acquire(kWorker1));
  const auto beat = [&](TaskId task, uint64_t activity,
                        const std::string& waiting_for) {
    v1::HeartbeatRequest request;
    *request.mutable_member() = MemberOf(task);
    request.set_activity(activity);
    request.set_waiting_for(waiting_for);
    session_->Heartbeat(request, now_).IgnoreError();
  };
  session_->TakeActions();
  for (int second = 0; second < 100; ++second) {
    Pass(absl::Seconds(1), {kWorker0, kWorker1});
    beat(kWorker0, second < 5 ? second : 5, "");
    beat(kWorker1, 1, second < 80 ? "Push to ps-0" : "");
    session_->Tick(now_);
  }
  const auto fence = Take<FenceWorker>();
  ASSERT_TRUE(fence);
  EXPECT_EQ(fence->worker.rank(), 0);
  EXPECT_FALSE(session_->ended());
}

TEST_F(SessionFailuresTest, SynchronousServersNeedEveryWorker) {
  options_.job.set_consistency(v1::CONSISTENCY_SYNC);
  Start();
  // Both get the same lease.
  EXPECT_EQ(Acquire(kWorker0)->id(), Acquire(kWorker1)->id());
  session_->TakeActions();
  Pass(absl::Seconds(9), {kWorker0});
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kWorker0);
}

TEST_F(SessionFailuresTest, IdleWorkerIsNotStuck) {
  Start();
  v1::HeartbeatRequest same;
  *same.mutable_member() = MemberOf(kWorker0);
  for (int i = 0; i < 200 * 4; ++i) {
    Pass(absl::Milliseconds(250), {kWorker0});
    ASSERT_TRUE(session_->Heartbeat(same, now_).ok());
  }
  Acquire(kWorker0);
  session_->Tick(now_);
  EXPECT_TRUE(session_->Heartbeat(same, now_).ok());
}

TEST_F(SessionFailuresTest, EvaluationOfADeadWorkerIsDoneAgain) {
  validation_examples_ = 100;
  Start();
  const TaskId dead = kWorker0;
  while (session_->Progress().phase == v1::PHASE_TRAIN) {
    const auto lease = Acquire(dead);
    ASSERT_TRUE(lease);
    Finish(dead, *lease);
  }
  const auto lease = Acquire(dead);
  ASSERT_EQ(lease->phase(), v1::PHASE_VALIDATION);
  ASSERT_TRUE(Beat(dead, {ReportOf(*lease, 10)}).ok());
  Pass(absl::Seconds(9), {dead});
  EXPECT_EQ(WorkUntilIdle(kWorker1), 100);
  ASSERT_EQ(session_->history().size(), 1);
}

TEST_F(SessionFailuresTest, SilentPsEndsTheJob) {
  Start();
  Acquire(kWorker0);
  ASSERT_TRUE(Beat(kWorker0, {}, "Push to ps-0 at host-p:1").ok());
  session_->TakeActions();
  const absl::Time before = now_;
  while (!session_->ended() && now_ < before + absl::Seconds(20)) {
    now_ += absl::Milliseconds(250);
    Beat(kWorker0, {}, "Push to ps-0 at host-p:1").IgnoreError();
    Beat(kWorker1).IgnoreError();
    session_->Tick(now_);
  }
  EXPECT_LE(now_ - before, absl::Seconds(9));
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended->task, kPs0);
  EXPECT_THAT(Message(ended),
              AllOf(HasSubstr("ps-0 at host-p:1 sent no heartbeat for 8"),
                    HasSubstr("worker-0 waits for Push to ps-0")));
}

TEST_F(SessionFailuresTest, ExitedPsEndsTheJobAtOnce) {
  Start();
  session_->TakeActions();
  session_->TaskExited(kPs0, 137, now_);
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(ended),
              HasSubstr("ps-0 at host-p:1 exited with code 137"));
}

TEST_F(SessionFailuresTest, TheLastWorkerThatIsAskedToLeaveHasNotFailed) {
  Start();
  Acquire(kWorker0);
  Acquire(kWorker1);
  ASSERT_TRUE(Leave(kWorker0, absl::OkStatus()).ok());
  EXPECT_FALSE(session_->ended()) << "the other can go on";
  ASSERT_TRUE(Leave(kWorker1, absl::OkStatus()).ok());
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->is_departure);
  EXPECT_EQ(ended->task, kWorker1);
}

// It may not get as far as its goodbye.
TEST_F(SessionFailuresTest, AWorkerInStepThatIsLostWhileItLeavesHasNotFailed) {
  options_.job.set_consistency(v1::CONSISTENCY_SYNC);
  Start();
  Acquire(kWorker0);
  Acquire(kWorker1);
  BeatAndAskToLeave(kWorker1);
  session_->TaskExited(kWorker1, 138, now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->is_departure);
}

TEST_F(SessionFailuresTest, OnlyWhatComesFromALeavingTaskIsItsDeparture) {
  const absl::Status gone = BlamedOnPs0(absl::UnavailableError("no answer"));
  const absl::Status other = absl::InternalError("a wrong shape");
  options_.job.mutable_checkpoint()->set_every_epochs(2);
  for (const absl::Status& error : {gone, other}) {
    Start();
    ASSERT_TRUE(Acquire(kWorker0));
    BeatAndAskToLeave(kPs0);
    ASSERT_TRUE(Leave(kWorker0, error).ok());
    const auto ended = Take<Ended>();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->is_departure, error == gone);
    incarnations_.clear();
    requests_.clear();
  }
}

TEST_F(SessionFailuresTest, LastWorkersLossEndsTheJob) {
  Start();
  Acquire(kWorker0);
  Acquire(kWorker1);
  session_->TaskExited(kWorker0, 134, now_);
  EXPECT_FALSE(session_->ended());
  session_->TaskExited(kWorker1, 139, now_);
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(ended->is_departure);
  EXPECT_EQ(ended->task, kWorker1);
  EXPECT_THAT(Message(ended),
              AllOf(HasSubstr("no worker is left"),
                    HasSubstr("worker-1 at host-b:1 exited with code 139")));
}

TEST_F(SessionFailuresTest, WorkerThatLostAPsEndsTheJobAndBlamesThePs) {
  Start();
  session_->TakeActions();
  ASSERT_TRUE(Leave(kWorker0, BlamedOnPs0(absl::DeadlineExceededError(
                                  "Push to ps-0 at host-p:1: no answer")))
                  .ok());
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ended->task, kPs0);
  EXPECT_EQ(Message(ended),
            "worker-0 at host-a:1: Push to ps-0 at host-p:1: no answer");
  EXPECT_EQ(BlameOf(ended->status), (Blame{kPs0, "host-p:1", "Push"}));
}

TEST_F(SessionFailuresTest, ATextThatContainsThePsBlamesNobodyElse) {
  Start();
  session_->TakeActions();
  ASSERT_TRUE(Leave(kWorker0, absl::DataLossError("/data/ps-0 at host-p:1 is "
                                                  "no file of images"))
                  .ok());
  EXPECT_EQ(Take<Ended>()->task, kWorker0);
}

// Whose error still counts.
TEST_F(SessionFailuresTest, BlameOfATaskThatTheJobDoesNotHaveIsIgnored) {
  for (const TaskId task :
       {TaskId{TaskType::kPs, 1}, TaskId{TaskType::kChief, 0},
        TaskId{TaskType::kEvaluator, 0}, TaskId{TaskType::kWorker, 9999}}) {
    Start();
    session_->TakeActions();
    ASSERT_TRUE(Leave(kWorker0, WithBlame(absl::InternalError("hostile"),
                                          {task, "host-p:1", "Push"}))
                    .ok());
    const auto ended = Take<Ended>();
    ASSERT_TRUE(ended) << task.ToString();
    EXPECT_EQ(ended->status,
              absl::InternalError("worker-0 at host-a:1: hostile"));
    EXPECT_EQ(ended->task, kWorker0);
  }
}

TEST_F(SessionFailuresTest,
       BlameIsPrintableAndHasTheAddressThatTheLeaderKnows) {
  Start();
  session_->TakeActions();
  ASSERT_TRUE(
      Leave(kWorker0, WithBlame(absl::InternalError("gone"),
                                {kPs0, "\x1b[2Jelsewhere:1", "Push\r\x1b[2K"}))
          .ok());
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(BlameOf(ended->status),
            (Blame{kPs0, "host-p:1", "Push\\x0d\\x1b[2K"}));
}

TEST_F(SessionFailuresTest, WhoBlamesItselfIsToBlame) {
  Start();
  session_->TakeActions();
  // Not as one that blames a ps, which would end the job.
  ASSERT_TRUE(
      Leave(kWorker0, WithBlame(absl::FailedPreconditionError("replaced"),
                                {kWorker0, "", ""}))
          .ok());
  EXPECT_FALSE(session_->ended());
  ASSERT_TRUE(Leave(kWorker1, WithBlame(absl::InternalError("no memory"),
                                        {kWorker1, "", ""}))
                  .ok());
  EXPECT_EQ(Take<Ended>()->task, kWorker1);
}

TEST_F(SessionFailuresTest, NoticesHaveTheErrorWithoutItsPayload) {
  Start();
  session_->TakeActions();
  ASSERT_TRUE(Leave(kWorker0, BlamedOnPs0(absl::AbortedError("fenced"))).ok());
  EXPECT_EQ(Take<Notice>()->message,
            "worker-0 at host-a:1 left: ABORTED: fenced; its leases go to "
            "others");
}

TEST_F(SessionFailuresTest, PsThatCameBackEmptyEndsTheJob) {
  Start();
  session_->TakeActions();
  ASSERT_TRUE(Leave(kWorker0, BlamedOnPs0(absl::FailedPreconditionError(
                                  "Push to ps-0 at host-p:1: not initialised")))
                  .ok());
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kPs0);
}

TEST_F(SessionFailuresTest, FencedWorkersGoodbyeIsNoFailure) {
  Start();
  Acquire(kWorker0);
  session_->TakeActions();
  ASSERT_TRUE(Leave(kWorker0, BlamedOnPs0(absl::AbortedError(
                                  "Push to ps-0 at host-p:1: fenced")))
                  .ok());
  EXPECT_FALSE(session_->ended());
  EXPECT_TRUE(Take<FenceWorker>());
  EXPECT_TRUE(Leave(kWorker0, absl::OkStatus()).ok()) << "a repeat";
}

TEST_F(SessionFailuresTest, OneThatDisagreesLaterIsOnlyRefused) {
  Start();
  v1::RegisterRequest request;
  *request.mutable_member() = MemberOf(kWorker0);
  request.set_version("0.9");
  EXPECT_EQ(session_->Register(request, now_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Take<Ended>());
}

TEST_F(SessionFailuresTest, FailedFenceEndsTheJob) {
  Start();
  Acquire(kWorker0);
  session_->TaskExited(kWorker0, 1, now_);
  session_->TakeActions();
  session_->Fenced(
      WorkerIdOf(kWorker0),
      BlamedOnPs0(absl::UnavailableError("Fence to ps-0 at host-p:1: gone")),
      now_);
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended->task, kPs0);
}

TEST_F(SessionFailuresTest, LateWorkerThatReadsOtherDataIsRefusedAlone) {
  Start();
  session_->TaskExited(kWorker1, 1, now_);
  session_->Fenced(WorkerIdOf(kWorker1), std::vector<v1::FenceResponse>(1),
                   now_);
  Restart(kWorker1);
  ASSERT_TRUE(Register(kWorker1).ok());
  train_examples_ = 999;
  EXPECT_EQ(AwaitStart(kWorker1).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Leave(kWorker1, absl::NotFoundError("no file")).ok());
  EXPECT_FALSE(session_->ended());
}

TEST_F(SessionFailuresTest, UnderBoundedStalenessWaitingIsBlamedLast) {
  options_.job.set_consistency(v1::CONSISTENCY_BOUNDED);
  Start();
  ASSERT_TRUE(Acquire(kWorker0));
  session_->TakeActions();
  const auto wait = [&](absl::Duration duration) {
    const absl::Time end = now_ + duration;
    v1::HeartbeatRequest beat;
    *beat.mutable_member() = MemberOf(kWorker0);
    beat.set_activity(1);
    beat.set_waiting_for("Push to ps-0");
    while (now_ < end) {
      Pass(absl::Seconds(1), {kWorker0});
      session_->Heartbeat(beat, now_).IgnoreError();
      session_->Tick(now_);
    }
  };
  wait(2 * options_.stall_timeout - absl::Seconds(2));
  EXPECT_FALSE(Take<FenceWorker>());
  wait(absl::Seconds(5));
  EXPECT_TRUE(Take<FenceWorker>());
}

TEST_F(SessionFailuresTest, AProcessThatTakesAPlaceIsAdmittedBeforeItWorks) {
  Start();
  Acquire(kWorker0);
  session_->TaskExited(kWorker0, 1, now_);
  session_->Fenced(WorkerIdOf(kWorker0), std::vector<v1::FenceResponse>(1),
                   now_);
  session_->TakeActions();
  Restart(kWorker0);
  shards_ready_ = false;
  ASSERT_TRUE(Register(kWorker0).ok());
  ASSERT_TRUE(Register(kWorker0).ok()) << "a repeat";
  std::vector<AdmitWorkers> asked;
  for (Action& action : session_->TakeActions()) {
    if (auto* admit = std::get_if<AdmitWorkers>(&action)) {
      asked.push_back(*admit);
    }
  }
  ASSERT_EQ(asked.size(), 1u);
  ASSERT_EQ(asked[0].workers.size(), 1u);
  EXPECT_EQ(asked[0].workers[0].rank(), 0);
  EXPECT_EQ(asked[0].workers[0].incarnation(), incarnations_[kWorker0]);
  EXPECT_FALSE(AwaitStart(kWorker0)->has_value());
  EXPECT_FALSE(Acquire(kWorker0));
  session_->Admitted(asked[0].workers, absl::OkStatus(), now_);
  EXPECT_TRUE(AwaitStart(kWorker0)->has_value());
  EXPECT_TRUE(Acquire(kWorker0));
}

// The shards may have let it in already: it is fenced, though it never worked.
TEST_F(SessionFailuresTest, WhoIsLostWhileItIsAdmittedIsFenced) {
  Start();
  session_->TakeActions();
  session_->TaskExited(kWorker0, 1, now_);
  const auto fence = Take<FenceWorker>();
  ASSERT_TRUE(fence);
  const v1::WorkerId lost = fence->worker;
  session_->Fenced(lost, std::vector<v1::FenceResponse>(1), now_);
  Restart(kWorker0);
  shards_ready_ = false;
  ASSERT_TRUE(Register(kWorker0).ok());
  // A late answer is about the one before.
  session_->Admitted({lost}, absl::OkStatus(), now_);
  EXPECT_FALSE(AwaitStart(kWorker0)->has_value());
  session_->TaskExited(kWorker0, 1, now_);
  EXPECT_TRUE(Take<FenceWorker>());
}

TEST_F(SessionFailuresTest, AFailedAdmissionEndsTheJob) {
  Start();
  session_->TakeActions();
  session_->Admitted({WorkerIdOf(kWorker0)},
                     BlamedOnPs0(absl::DeadlineExceededError(
                         "Admit to ps-0 at host-p:1: no answer")),
                     now_);
  const auto ended = Take<Ended>();
  EXPECT_EQ(ended->task, kPs0);
  EXPECT_EQ(Message(ended),
            "letting workers in: Admit to ps-0 at host-p:1: no answer");
}

}  // namespace
}  // namespace paceline
