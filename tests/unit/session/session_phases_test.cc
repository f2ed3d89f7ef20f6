// How a session ends if another phase of the job follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "common/session/leader/resume_checks.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"
#include "tests/unit/session/session_orders_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class SessionPhasesTest : public SessionTest {
 protected:
  SessionPhasesTest() { options_.has_next_phase = true; }

  v1::AcquireLeaseResponse::Verdict VerdictOf(TaskId task) {
    const auto answer = TryAcquire(task, requests_[task] + 1);
    return answer.ok() && *answer
               ? (*answer)->verdict()
               : v1::AcquireLeaseResponse::VERDICT_UNSPECIFIED;
  }
};

TEST_F(SessionPhasesTest, MembersLeaveForTheNextPhase) {
  Start();
  auto answer = Beat(kPs0);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->next_phase());
  EXPECT_EQ(WorkUntilIdle(kWorker0), train_examples_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->status.ok()) << ended->status;

  for (const TaskId task : {kPs0, kWorker1}) {
    answer = Beat(task);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(answer->next_phase());
    EXPECT_FALSE(answer->stop());
  }
  EXPECT_EQ(VerdictOf(kWorker1), v1::AcquireLeaseResponse::VERDICT_NEXT_PHASE);
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) {
    EXPECT_FALSE(session_->AllGone(now_));
    EXPECT_TRUE(Leave(task, absl::OkStatus()).ok());
    // Until the next phase's leader is there, a task has to try again.
    EXPECT_TRUE(absl::IsUnavailable(Register(task).status()));
  }
  EXPECT_TRUE(session_->AllGone(now_));
}

TEST_F(SessionPhasesTest, NoPhaseFollowsAFailure) {
  Start();
  session_->Stop(absl::CancelledError("stopped by a signal"), now_);
  const auto answer = Beat(kPs0);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->next_phase());
  EXPECT_TRUE(answer->stop());
  EXPECT_TRUE(absl::IsCancelled(Register(kWorker1).status()));
}

TEST_F(SessionPhasesTest, ShardsTakeTheVariablesAlone) {
  options_.restore_path = "/out/phases/head/checkpoint/step-000000000020";
  options_.variables_only = true;
  Create();
  for (const ExpectedTask& task : options_.tasks) {
    ASSERT_TRUE(Register(task.id).ok());
  }
  const auto order = Take<InitializeShards>();
  ASSERT_TRUE(order);
  EXPECT_EQ(order->restore_path, options_.restore_path);
  EXPECT_TRUE(order->variables_only);
}

TEST_F(SessionPhasesTest, TheCheckpointOfThePhaseBeforeIsToldOf) {
  options_.restore_path = "/out/phases/head/checkpoint/step-000000000020";
  options_.variables_only = true;
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  WorkUntilIdle(kWorker0);
  ASSERT_TRUE(Take<TakeCheckpoint>());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(
      absl::ResourceExhaustedError("/out/a: no space left"), now_);
  // And nothing of others that were lost, since there are none.
  EXPECT_THAT(Message(Take<Ended>()),
              HasSubstr("the last checkpoint was not written: /out/a: no space "
                        "left; once that is mended, --resume goes on from the "
                        "checkpoint before it"));
}

class WorkersOfPhasesTest : public SessionOrdersFixture {
 protected:
  WorkersOfPhasesTest() {
    LetWorkersHoldVariables();
    options_.has_next_phase = true;
    options_.job.mutable_checkpoint();
    validation_examples_ = 0;
    test_examples_ = 0;
  }

  // Trains to the end of the phase, and starts again from its last checkpoint.
  void ResumeAtTheEnd() {
    StartWorkers();
    EXPECT_FALSE(WorkUntilOrder());
    EXPECT_TRUE(session_->ended());
    ASSERT_FALSE(taken_.empty());
    options_.restore = taken_.back().state;
    options_.restore_path = "/out/checkpoint/step-x";
    incarnations_.clear();
    requests_.clear();
    StartWorkers();
  }
};

// A worker that leaves at once would let another one wait for it.
TEST_F(WorkersOfPhasesTest, APhaseThatResumesAtItsEndAwaitsTheirConnections) {
  ASSERT_NO_FATAL_FAILURE(ResumeAtTheEnd());
  EXPECT_FALSE(Acquire(kWorker0));
  EXPECT_FALSE(session_->ended());
  EXPECT_FALSE(Beat(kWorker0)->next_phase());
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  EXPECT_FALSE(Acquire(kWorker1));
  EXPECT_TRUE(session_->ended());
  EXPECT_TRUE(Beat(kWorker0)->next_phase());
}

TEST_F(WorkersOfPhasesTest, AWorkerThatIsLostBeforeItConnectsEndsTheJob) {
  ASSERT_NO_FATAL_FAILURE(ResumeAtTheEnd());
  EXPECT_FALSE(Acquire(kWorker0));
  session_->TaskExited(kWorker1, 1, now_);
  const std::optional<Ended> ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_FALSE(ended->status.ok());
  EXPECT_EQ(ended->task, kWorker1);
}

TEST(CheckPhaseTest, ACheckpointOfAnotherPhaseIsRefused) {
  Manifest manifest;
  EXPECT_TRUE(CheckPhase(manifest, "").ok());
  manifest.phase = "head";
  EXPECT_TRUE(CheckPhase(manifest, "head").ok());
  const absl::Status status = CheckPhase(manifest, "tune");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(status.message(),
              HasSubstr("of phase \"head\"; expected one of phase \"tune\""));
  EXPECT_THAT(CheckPhase(manifest, "").message(),
              HasSubstr("expected one of a job without phases"));
}

}  // namespace
}  // namespace paceline
