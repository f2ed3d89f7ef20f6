// When a session takes checkpoints, and how it goes on from one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/session/saved_session.h"
#include "common/session/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionCheckpointTest : public SessionTest {
 protected:
  // Both workers work until a checkpoint is due, or nothing more can be done.
  std::optional<TakeCheckpoint> WorkUntilCheckpoint() {
    WorkUntilIdle(kWorker0);
    return Take<TakeCheckpoint>();
  }

  void Answer() {
    session_->SnapshotTaken(absl::OkStatus(), now_);
    session_->CheckpointWritten(absl::OkStatus(), now_);
  }
};

TEST_F(SessionCheckpointTest, TakesOneAfterEveryNthEpochAndTheLast) {
  options_.job.set_epochs(5);
  options_.job.mutable_checkpoint()->set_every_epochs(2);
  Start();
  std::vector<int64_t> steps;
  while (const auto checkpoint = WorkUntilCheckpoint()) {
    steps.push_back(checkpoint->step);
    EXPECT_FALSE(Acquire(kWorker1)) << "leases are withheld";
    Answer();
  }
  EXPECT_THAT(steps, ElementsAre(200, 400, 500));
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionCheckpointTest, TakesNoneUnlessAsked) {
  options_.job.set_epochs(2);
  Start();
  EXPECT_FALSE(WorkUntilCheckpoint());
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionCheckpointTest, FallsExactlyOnItsStep) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_steps(30);
  Start();
  std::vector<int64_t> steps;
  while (const auto checkpoint = WorkUntilCheckpoint()) {
    steps.push_back(checkpoint->step);
    Answer();
  }
  EXPECT_THAT(steps, ElementsAre(30, 60, 90, 120, 150, 180, 200));
}

TEST_F(SessionCheckpointTest, TrainingGoesOnWhileFilesAreWritten) {
  options_.job.set_epochs(3);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  ASSERT_TRUE(WorkUntilCheckpoint());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  EXPECT_FALSE(WorkUntilCheckpoint()) << "never two at once";
  EXPECT_EQ(session_->history().size(), 2);
  session_->CheckpointWritten(absl::OkStatus(), now_);
  const auto second = Take<TakeCheckpoint>();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->step, 200);
}

TEST_F(SessionCheckpointTest, FailureMattersOnlyForTheLast) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  const absl::Status full =
      absl::ResourceExhaustedError("/out/checkpoint: no space left");
  ASSERT_TRUE(WorkUntilCheckpoint());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(full, now_);
  const auto notice = Take<Notice>();
  ASSERT_TRUE(notice);
  EXPECT_THAT(notice->message, HasSubstr("no space left"));
  ASSERT_TRUE(WorkUntilCheckpoint());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  EXPECT_FALSE(session_->ended()) << "waits for the last checkpoint";
  session_->CheckpointWritten(full, now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(SessionCheckpointTest, SnapshotErrorEndsTheJob) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  ASSERT_TRUE(WorkUntilCheckpoint());
  session_->SnapshotTaken(
      absl::UnavailableError("Snapshot to ps-0 at host-p:1: gone"), now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended->task, (TaskId{TaskType::kPs, 0}));
}

TEST_F(SessionCheckpointTest, GoesOnInMidEpoch) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_steps(130);
  Start();
  now_ += absl::Seconds(7);
  std::optional<TakeCheckpoint> checkpoint = WorkUntilCheckpoint();
  ASSERT_TRUE(checkpoint);
  ASSERT_EQ(checkpoint->step, 130);
  const EpochRecord first = session_->history().at(0);

  // Through text, as the manifest has it.
  options_.restore = std::make_shared<const nlohmann::json>(
      nlohmann::json::parse(checkpoint->state->dump()));
  options_.restore_path = "/out/checkpoint/130";
  now_ += absl::Hours(1);
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Create();
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) {
    ASSERT_TRUE(Register(task).ok());
    ASSERT_TRUE(AwaitStart(task).ok());
  }
  EXPECT_EQ(Take<InitializeShards>()->restore_path, "/out/checkpoint/130");
  session_->ShardsInitialized(absl::OkStatus(), 130, now_);
  const auto began = Take<EpochBegan>();
  ASSERT_TRUE(began);
  EXPECT_EQ(began->epoch, 1);
  EXPECT_EQ(began->steps_done, 30);
  EXPECT_EQ(session_->Progress().steps_total, 100);

  const auto lease = Acquire(kWorker0);
  EXPECT_EQ(lease->begin(), 300);
  EXPECT_EQ(lease->epoch(), 1);
  Finish(kWorker0, *lease);
  EXPECT_EQ(WorkUntilCheckpoint()->step, 200);
  ASSERT_EQ(session_->history().size(), 2);
  EXPECT_EQ(session_->history()[0].seconds, first.seconds);
  EXPECT_EQ(session_->history()[0].logs, first.logs);
  EXPECT_EQ(session_->history()[1].examples, 1000);
  EXPECT_EQ(session_->history()[1].learning_rate, 1.0 / 201);
  EXPECT_LT(session_->history()[1].seconds, 60) << "the pause does not count";
}

TEST_F(SessionCheckpointTest, FinishedJobTrainsNoMore) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  test_examples_ = 20;
  Start();
  const auto checkpoint = WorkUntilCheckpoint();
  ASSERT_TRUE(checkpoint);
  options_.restore = checkpoint->state;
  options_.restore_path = "/out/checkpoint/100";
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->phase(), v1::PHASE_TEST);
  EXPECT_EQ(session_->history().size(), 1);
}

TEST_F(SessionCheckpointTest, RefusesADamagedState) {
  options_.job.mutable_checkpoint()->set_every_steps(50);
  Start();
  nlohmann::json state = *WorkUntilCheckpoint()->state;
  for (const char* key : {"epoch", "remaining", "counted", "history"}) {
    nlohmann::json damaged = state;
    damaged.erase(key);
    options_.restore = std::make_shared<const nlohmann::json>(damaged);
    const auto session = Session::Create(options_, now_);
    EXPECT_EQ(session.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(session.status().message()), HasSubstr(key));
  }
  state["remaining"][0][0] = 10;
  options_.restore = std::make_shared<const nlohmann::json>(state);
  EXPECT_EQ(Session::Create(options_, now_).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(SessionCheckpointTest, RefusesOtherDataInMidEpoch) {
  options_.job.mutable_checkpoint()->set_every_steps(50);
  Start();
  options_.restore = WorkUntilCheckpoint()->state;
  options_.restore_path = "/out";
  train_examples_ = 900;
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Start();
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ended->status.message()), HasSubstr("1000"));
  EXPECT_THAT(std::string(ended->status.message()), HasSubstr("900"));
}

TEST(SavedSessionTest, DoublesComeBackBitByBit) {
  SavedSession saved;
  saved.epoch_examples = 10;
  saved.remaining = {{3, 10}};
  saved.counted.examples = 3;
  saved.counted.totals = {0.1 + 0.2, 1e-300};
  saved.counted.counts = {1.0 / 3, 5e300};
  saved.seconds = 0.7 * 3;
  const auto text = ToJson(saved).dump();
  const auto read = SavedSessionFromJson(nlohmann::json::parse(text));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->counted.totals, saved.counted.totals);
  EXPECT_EQ(read->counted.counts, saved.counted.counts);
  EXPECT_EQ(read->seconds, saved.seconds);
  EXPECT_EQ(read->remaining, saved.remaining);
  EXPECT_THAT(read->history, IsEmpty());
}

}  // namespace
}  // namespace paceline
