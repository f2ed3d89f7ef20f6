// When a session takes checkpoints, and how it goes on from one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

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

  // Workers in step do their halves of the lease. Then a checkpoint is taken,
  // and the job ends because of `leaving`.
  void ExpectACheckpointAfter(const v1::Lease& lease, TaskId leaving) {
    const v1::LeaseReport half =
        ReportOf(lease, static_cast<int64_t>(lease.end() - lease.begin()) / 2);
    for (const TaskId worker : {kWorker0, kWorker1}) {
      ASSERT_TRUE(Beat(worker, {half}).ok());
    }
    ASSERT_TRUE(Take<TakeCheckpoint>());
    Answer();
    const auto ended = Take<Ended>();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->task, leaving);
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

TEST_F(SessionCheckpointTest, AFailureIsToldOnceAndTellsWhatThereIs) {
  options_.job.set_epochs(7);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  const absl::Status full = absl::ResourceExhaustedError("/out/a: no space");
  const absl::Status full_again =
      absl::ResourceExhaustedError("/out/b: no space");
  const absl::Status gone = absl::NotFoundError("/out/c: it is gone");
  std::vector<std::string> told;
  for (const absl::Status& status :
       {full, full_again, absl::OkStatus(), full, gone, gone, full_again}) {
    ASSERT_TRUE(WorkUntilCheckpoint());
    session_->SnapshotTaken(absl::OkStatus(), now_);
    session_->CheckpointWritten(status, now_);
    for (const Action& action : session_->TakeActions()) {
      if (const auto* notice = std::get_if<Notice>(&action)) {
        told.push_back(notice->message);
      } else if (const auto* ended = std::get_if<Ended>(&action)) {
        told.emplace_back(ended->status.message());
      }
    }
  }
  EXPECT_THAT(
      told,
      ElementsAre(AllOf(HasSubstr("there is none yet"), HasSubstr("/out/a")),
                  AllOf(HasSubstr("the one before it"), HasSubstr("/out/a")),
                  AllOf(HasSubstr("the one before it"), HasSubstr("/out/c")),
                  AllOf(HasSubstr("not written (nor 5 before it): /out/b"),
                        HasSubstr("--resume goes on"))));
}

TEST_F(SessionCheckpointTest, APsThatIsAskedToLeaveLeavesACheckpoint) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(2);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  BeatAndAskToLeave(kPs0);
  EXPECT_FALSE(session_->ended()) << "the lease is open";
  EXPECT_FALSE(Acquire(kWorker1)) << "there are no more";
  EXPECT_FALSE(Take<TakeCheckpoint>());
  Finish(kWorker0, *lease);
  BeatAndAskToLeave(kPs0);
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->step, (lease->end() - lease->begin()) / 10);
  session_->SnapshotTaken(absl::OkStatus(), now_);
  EXPECT_FALSE(session_->ended()) << "the files are written";
  EXPECT_FALSE(Acquire(kWorker1));
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kPs0);
  EXPECT_TRUE(ended->is_departure);
  EXPECT_THAT(Message(ended),
              AllOf(HasSubstr("ps-0 at host-p:1: a signal asked it to leave"),
                    HasSubstr("--resume")));

  options_.restore_path = "/out/checkpoint/step-x";
  options_.restore = checkpoint->state;
  incarnations_.clear();
  requests_.clear();
  Start();
  EXPECT_EQ(WorkUntilIdle(kWorker0), 2000 - (lease->end() - lease->begin()));
}

TEST_F(SessionCheckpointTest, AFullDiskIsAFailureAlsoWhileAPsLeaves) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(2);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  BeatAndAskToLeave(kPs0);
  Finish(kWorker0, *lease);
  ASSERT_TRUE(Take<TakeCheckpoint>());
  session_->SnapshotTaken(
      WithBlame(absl::ResourceExhaustedError("no space left"),
                {kPs0, "host-p:1", "Snapshot"}),
      now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(ended->is_departure);
}

TEST_F(SessionCheckpointTest, AStopCanWaitForALastCheckpoint) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(2);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  session_->StopAfterCheckpoint(absl::CancelledError("enough"), now_);
  EXPECT_FALSE(session_->ended()) << "the lease is open";
  EXPECT_FALSE(Acquire(kWorker1)) << "there are no more";
  Finish(kWorker0, *lease);
  ASSERT_TRUE(Take<TakeCheckpoint>());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  EXPECT_FALSE(session_->ended()) << "the files are written";
  session_->CheckpointWritten(absl::OkStatus(), now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_FALSE(ended->is_departure);
  EXPECT_EQ(ended->status, absl::CancelledError("enough"));
  EXPECT_FALSE(ended->task);
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
}

TEST_F(SessionCheckpointTest, AStopWaitsForNothingWithoutCheckpoints) {
  Start();
  ASSERT_TRUE(Acquire(kWorker0));
  session_->StopAfterCheckpoint(absl::CancelledError("enough"), now_);
  EXPECT_EQ(Message(Take<Ended>()), "enough");
}

TEST_F(SessionCheckpointTest, NothingNewIsSavedTwiceForATaskThatLeaves) {
  options_.job.mutable_checkpoint()->set_every_steps(30);
  Start();
  ASSERT_TRUE(WorkUntilCheckpoint());
  BeatAndAskToLeave(kPs0);
  EXPECT_FALSE(session_->ended()) << "the snapshot is taken";
  session_->SnapshotTaken(absl::OkStatus(), now_);
  EXPECT_FALSE(session_->ended()) << "the files are written";
  session_->CheckpointWritten(absl::ResourceExhaustedError("no space left"),
                              now_);
  EXPECT_THAT(Message(Take<Ended>()), HasSubstr("asked it to leave"));
}

TEST_F(SessionCheckpointTest, WithoutCheckpointsTheJobEndsAtOnce) {
  Start();
  ASSERT_TRUE(Acquire(kWorker0));
  BeatAndAskToLeave(kWorker0);
  EXPECT_FALSE(session_->ended()) << "the other worker can go on";
  BeatAndAskToLeave(kPs0);
  EXPECT_THAT(Message(Take<Ended>()), HasSubstr("takes no checkpoints"));
}

TEST_F(SessionCheckpointTest, AWorkerInStepThatLeavesLeavesACheckpoint) {
  options_.job.set_epochs(3);
  options_.job.set_consistency(v1::CONSISTENCY_SYNC);
  options_.job.mutable_checkpoint()->set_every_epochs(3);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  ASSERT_TRUE(Acquire(kWorker1));
  BeatAndAskToLeave(kWorker1);
  EXPECT_FALSE(session_->ended()) << "they are in a lease";
  EXPECT_FALSE(Acquire(kWorker0));
  ExpectACheckpointAfter(*lease, kWorker1);
}

TEST_F(SessionCheckpointTest, AWorkerStillJoinsALeaseOfAJobThatEnds) {
  options_.job.set_epochs(3);
  options_.job.set_consistency(v1::CONSISTENCY_SYNC);
  options_.job.mutable_checkpoint()->set_every_steps(20);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  BeatAndAskToLeave(kWorker0);
  const auto joined = Acquire(kWorker1);
  ASSERT_TRUE(joined) << "the other could not finish it alone";
  EXPECT_EQ(joined->id(), lease->id());
  EXPECT_FALSE(Acquire(kWorker0)) << "there are no more";
  EXPECT_FALSE(Acquire(kWorker1));
  ExpectACheckpointAfter(*lease, kWorker0);
}

// Training of the epoch ends with the last lease, and its validation would
// not.
TEST_F(SessionCheckpointTest, AnEpochIsSavedBeforeAValidationThatWouldNotEnd) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(2);
  validation_examples_ = 20;
  train_examples_ = 40;
  Start();
  std::optional<v1::Lease> last = Acquire(kWorker0);
  ASSERT_TRUE(last);
  while (last->end() < 40) {
    Finish(kWorker0, *last);
    last = Acquire(kWorker0);
    ASSERT_TRUE(last);
  }
  BeatAndAskToLeave(kPs0);
  EXPECT_FALSE(Take<TakeCheckpoint>()) << "the lease is open";
  Finish(kWorker0, *last);
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->step, 4);
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  EXPECT_FALSE(Acquire(kWorker1)) << "nobody validates any more";
  EXPECT_FALSE(session_->ended()) << "the files are written";
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_THAT(Message(Take<Ended>()), HasSubstr("--resume goes on"));

  // Through text, as the manifest has it.
  options_.restore = std::make_shared<const nlohmann::json>(
      nlohmann::json::parse(checkpoint->state->dump()));
  options_.restore_path = "/out/checkpoint/4";
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Start();
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  const auto validates = Acquire(kWorker0);
  ASSERT_TRUE(validates);
  EXPECT_EQ(validates->phase(), v1::PHASE_VALIDATION);
  EXPECT_EQ(validates->epoch(), 0);
  Finish(kWorker0, *validates);
  WorkUntilIdle(kWorker0);
  ASSERT_EQ(session_->history().size(), 2);
  EXPECT_EQ(session_->history()[0].examples, 40);
  EXPECT_EQ(session_->history()[0].steps, 4);
  EXPECT_FALSE(session_->history()[0].validation_logs.empty());
  const auto final_checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(final_checkpoint);
  EXPECT_EQ(final_checkpoint->step, 8);
}

TEST_F(SessionCheckpointTest, AnEpochWithoutValidationIsSavedOnce) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_epochs(2);
  train_examples_ = 10;
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  BeatAndAskToLeave(kPs0);
  Finish(kWorker0, *lease);
  ASSERT_TRUE(Take<TakeCheckpoint>());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_THAT(Message(Take<Ended>()), HasSubstr("asked it to leave"));
  EXPECT_EQ(session_->history().size(), 1);
}

TEST_F(SessionCheckpointTest, SnapshotErrorEndsTheJob) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  ASSERT_TRUE(WorkUntilCheckpoint());
  session_->SnapshotTaken(
      BlamedOnPs0(absl::UnavailableError("Snapshot to ps-0 at host-p:1: gone")),
      now_);
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
  ShardsReady(130);
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

// As after `--set epochs=4` and another initial epoch.
TEST_F(SessionCheckpointTest, ItsEpochBeatsTheInitialOne) {
  options_.job.set_epochs(3);
  options_.job.set_initial_epoch(1);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  const auto checkpoint = WorkUntilCheckpoint();
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->state->at("first_epoch"), 1);
  EXPECT_EQ(checkpoint->state->at("epoch"), 2);
  for (const int initial_epoch : {0, 1, 3}) {
    SCOPED_TRACE(initial_epoch);
    options_.restore = checkpoint->state;
    options_.restore_path = "/out/checkpoint/100";
    options_.job.set_epochs(4);
    options_.job.set_initial_epoch(initial_epoch);
    for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
    Start();
    const auto began = Take<EpochBegan>();
    ASSERT_TRUE(began);
    EXPECT_EQ(began->epoch, 2);
    ASSERT_EQ(session_->history().size(), 1u);
    EXPECT_EQ(session_->history()[0].epoch, 1);
    EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  }
}

TEST_F(SessionCheckpointTest, RefusesADamagedState) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_steps(130);
  Start();
  const nlohmann::json sound = *WorkUntilCheckpoint()->state;
  options_.restore_path = "/out/step";
  const auto expect = [&](const std::string& pointer, const nlohmann::json& bad,
                          const std::string& culprit) {
    SCOPED_TRACE(pointer + " = " + bad.dump());
    nlohmann::json state = sound;
    state[nlohmann::json::json_pointer(pointer)] = bad;
    options_.restore = std::make_shared<const nlohmann::json>(
        nlohmann::json::parse(state.dump()));
    const absl::Status status = Session::Create(options_, now_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("/out/step/manifest.json: session." + culprit),
                      HasSubstr(bad.dump()), HasSubstr("expected")));
  };
  ASSERT_EQ(sound.at("epoch"), 1);
  ASSERT_EQ(sound.at("remaining"), (nlohmann::json{{300, 1000}}));
  for (const int64_t steps : {int64_t{-100000}, INT64_MAX, int64_t{-1}}) {
    expect("/steps", steps, "steps: ");
    expect("/counted/steps", steps, "counted.steps: ");
    expect("/counted/examples", steps, "counted.examples: ");
    expect("/counted/skipped_examples", steps, "counted.skipped_examples: ");
    expect("/history/0/skipped_examples", steps,
           "history[0].skipped_examples: ");
    expect("/epoch_examples", steps, "epoch_examples: ");
    expect("/order_replicas", steps, "order_replicas: ");
    expect("/round_examples", steps, "round_examples: ");
    expect("/history/0/steps", steps, "history[0].steps: ");
  }
  expect("/steps", 1.5, "steps: ");
  expect("/counted/steps", int64_t{1} << 62, "counted.steps: ");
  expect("/counted/states/0", "many", "counted.states: ");
  expect("/next_lease_id", 0, "next_lease_id: ");
  expect("/next_lease_id", ~uint64_t{0}, "next_lease_id: ");
  expect("/order_replicas", "two", "order_replicas: ");
  expect("/order_replicas", int64_t{1} << 32, "order_replicas: ");
  expect("/round_examples", 1.5, "round_examples: ");
  expect("/epoch", int64_t{1} << 40, "epoch: ");
  expect("/epoch", 2, "history: ");
  expect("/first_epoch", -1, "first_epoch: ");
  expect("/first_epoch", 2, "first_epoch: ");
  expect("/seconds", -1, "seconds: ");
  expect("/learning_rate", -1, "learning_rate: ");
  expect("/learning_rate", 1e39, "learning_rate: ");
  expect("/learning_rate", nullptr, "learning_rate: ");
  expect("/seconds", nullptr, "seconds: ");
  expect("/history/0/epoch", 3, "history[0].epoch: ");
  expect("/history/0/logs", {1}, "history[0].logs: ");
  using Ranges = std::vector<std::vector<int64_t>>;
  for (const Ranges& ranges :
       {Ranges{{300, 1001}}, Ranges{{-1, 700}}, Ranges{{300, 300}},
        Ranges{{300, 700}, {600, 900}}, Ranges{{700, 300}}, Ranges{{1, 2, 3}},
        Ranges{{310, 1000}}}) {
    expect("/remaining", ranges, "remaining: ");
  }
}

TEST_F(SessionCheckpointTest, RefusesEpochsBeyondAllData) {
  options_.job.set_steps_per_epoch(uint64_t{1} << 62);
  const absl::Status status = Session::Create(options_, now_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("steps_per_epoch: 4611686018427387904"));
}

// The leader's account of shards, in session.h's terms.
TEST_F(SessionCheckpointTest, TellsWhatShardsMustHaveCounted) {
  options_.job.mutable_checkpoint()->set_every_steps(70);
  options_.tasks.push_back({{TaskType::kPs, 1}, "host-q:1"});
  options_.counters = {{/*first_step=*/0, 1}, {/*first_step=*/3, 1}};
  Start();
  const auto lease = Acquire(kWorker1);
  ASSERT_TRUE(lease);
  Pass(absl::Seconds(9), {kWorker1});
  const auto fence = Take<FenceWorker>();
  ASSERT_TRUE(fence);
  std::vector<v1::FenceResponse> answers(2);
  for (const int shard : {0, 1}) {
    v1::Progress& progress = *answers[shard].mutable_progress();
    progress.set_sequence(3 - shard);
    *progress.mutable_lease() = ReportOf(*lease, 30 - 10 * shard);
  }
  session_->Fenced(fence->worker, answers, now_);
  const auto checkpoint = WorkUntilCheckpoint();
  ASSERT_TRUE(checkpoint);
  ASSERT_EQ(checkpoint->step, 70);
  EXPECT_THAT(checkpoint->shard_steps,
              ElementsAre(StepBounds{70, 70}, StepBounds{72, 72}));
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
  saved.counted.states = {0.1 + 0.2, 1.0 / 3, 1e-300, 5e300};
  saved.seconds = 0.7 * 3;
  const auto text = ToJson(saved).dump();
  const auto read = SavedSessionFromJson(nlohmann::json::parse(text));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->counted.states, saved.counted.states);
  EXPECT_EQ(read->seconds, saved.seconds);
  EXPECT_EQ(read->remaining, saved.remaining);
  EXPECT_THAT(read->history, IsEmpty());
}

TEST(SavedSessionTest, TotalsAndCountsOfAnOlderCheckpointAreStates) {
  SavedSession saved;
  saved.epoch_examples = 10;
  saved.remaining = {{3, 10}};
  saved.counted.examples = 3;
  nlohmann::json older = ToJson(saved);
  older["counted"].erase("states");
  older["counted"]["totals"] = {1.5, nullptr};
  older["counted"]["counts"] = {3, 4};
  const auto read = SavedSessionFromJson(older);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->counted.states, ElementsAre(1.5, 3, IsNan(), 4));
  older["counted"]["counts"] = {3};
  EXPECT_THAT(std::string(SavedSessionFromJson(older).status().message()),
              HasSubstr("session.counted.counts: [3]; expected 2 numbers"));
}

}  // namespace
}  // namespace paceline
