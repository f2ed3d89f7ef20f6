// Orders to change the variables when training ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "common/base/status_macros.h"
#include "common/callback/callback.h"
#include "common/checkpoint/object_reader.h"
#include "common/session/machine/saved_session.h"
#include "nlohmann/json.hpp"
#include "tests/unit/session/session_orders_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps the model of one epoch, and may have that of one saved as a file.
class Keeper final : public Callback {
 public:
  explicit Keeper(int best_epoch, int saved_epoch = -1)
      : best_epoch_(best_epoch), saved_epoch_(saved_epoch) {}

  absl::string_view class_name() const override { return "Keeper"; }
  bool restores_kept() const override { return has_kept_; }
  void EpochEnded(EpochEnd& end, Decision& decision) override {
    decision.keeps_model = end.epoch == best_epoch_;
    has_kept_ |= decision.keeps_model;
    if (end.epoch == saved_epoch_)
      decision.saves.push_back(SaveModel{"x.keras"});
  }
  nlohmann::json Save() const override { return {{"kept", has_kept_}}; }
  absl::Status Restore(const ObjectReader& state) override {
    ASSIGN_OR_RETURN(has_kept_, state.Bool("kept"));
    return absl::OkStatus();
  }

 private:
  const int best_epoch_;
  const int saved_epoch_;
  bool has_kept_ = false;
};

class SessionOrdersTest : public SessionOrdersFixture {
 protected:
  void KeepEpoch(int epoch, int saved_epoch = -1) {
    Use(std::make_unique<Keeper>(epoch, saved_epoch));
  }
  // Of the checkpoints that were taken, whether they have the variables that
  // the job ends with.
  std::vector<bool> AreFinal() const {
    std::vector<bool> are_final;
    for (const TakeCheckpoint& taken : taken_) {
      const auto saved = SavedSessionFromJson(*taken.state);
      EXPECT_TRUE(saved.ok()) << saved.status();
      are_final.push_back(saved.ok() && saved->is_final);
    }
    return are_final;
  }
};

TEST_F(SessionOrdersTest, ServersLoadTheKeptModelBeforeTheTestSet) {
  KeepEpoch(0);
  Start();
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->order.kind(), v1::VariablesOrder::KIND_LOAD);
  EXPECT_EQ(change->order.number(), 1);
  // The job itself takes no checkpoint.
  ASSERT_EQ(taken_.size(), 1);
  EXPECT_TRUE(taken_[0].is_kept);
  EXPECT_EQ(taken_[0].step, 100);
  EXPECT_EQ(session_->history().size(), 3);
  EXPECT_FALSE(Acquire(kWorker0)) << "the variables are being changed";
  session_->VariablesChanged(absl::OkStatus(), now_);
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->phase(), v1::PHASE_TEST);
  Finish(kWorker0, *lease);
  EXPECT_FALSE(WorkUntilOrder());
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionOrdersTest, TheLastCheckpointHasTheKeptModel) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  KeepEpoch(1);
  Start();
  ASSERT_TRUE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 2);
  EXPECT_FALSE(taken_[0].is_kept);
  EXPECT_TRUE(taken_[1].is_kept);
  session_->VariablesChanged(absl::OkStatus(), now_);
  EXPECT_FALSE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 3);
  EXPECT_EQ(taken_[2].step, 300);
  EXPECT_FALSE(taken_[2].is_kept);
  EXPECT_THAT(AreFinal(), ElementsAre(false, false, true));
  EXPECT_TRUE(session_->ended());
}

// The file of a model has the variables of the last epoch.
TEST_F(SessionOrdersTest, ACheckpointBeforeTheOrderIsNotTheFinalOne) {
  options_.job.mutable_checkpoint()->set_every_epochs(3);
  KeepEpoch(0, /*saved_epoch=*/2);
  Start();
  ASSERT_TRUE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 2);
  EXPECT_EQ(taken_[1].step, 300);
  EXPECT_EQ(taken_[1].saves.size(), 1);
  session_->VariablesChanged(absl::OkStatus(), now_);
  EXPECT_FALSE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 3);
  EXPECT_EQ(taken_[2].step, 300);
  EXPECT_THAT(AreFinal(), ElementsAre(false, false, true));
}

TEST_F(SessionOrdersTest, NothingIsLoadedIfTheLastEpochIsTheBest) {
  KeepEpoch(2);
  Start();
  EXPECT_FALSE(WorkUntilOrder());
  EXPECT_TRUE(taken_.empty());
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionOrdersTest, TheLastCheckpointIsKeptIfItsEpochIsTheBest) {
  // With more epochs, a resumed job may have to load it.
  options_.job.mutable_checkpoint()->set_every_epochs(3);
  KeepEpoch(2);
  Start();
  EXPECT_FALSE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 1);
  EXPECT_TRUE(taken_[0].is_kept);
  EXPECT_THAT(AreFinal(), ElementsAre(true));
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionOrdersTest, AResumedJobLoadsWhatAnEarlierRunKept) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  KeepEpoch(0);
  Start();
  ASSERT_TRUE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 2);
  options_.restore_path = "/out/checkpoint/step-x";
  options_.restore = taken_[1].state;
  KeepEpoch(0);
  incarnations_.clear();
  requests_.clear();
  Start();
  EXPECT_TRUE(WorkUntilOrder());
  EXPECT_EQ(session_->history().size(), 3);
}

TEST_F(SessionOrdersTest, AFinishedJobThatIsResumedLoadsNothing) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  // The last checkpoint is one after the order, or is the one that is kept.
  for (const int best : {1, 2}) {
    options_.restore = nullptr;
    const auto start = [&](int epochs) {
      options_.job.set_epochs(epochs);
      KeepEpoch(best);
      incarnations_.clear();
      requests_.clear();
      Start();
    };
    start(3);
    if (WorkUntilOrder()) {
      session_->VariablesChanged(absl::OkStatus(), now_);
      EXPECT_FALSE(WorkUntilOrder());
    }
    ASSERT_TRUE(session_->ended());
    options_.restore_path = "/out/checkpoint/step-x";
    options_.restore = taken_.back().state;
    start(3);
    EXPECT_FALSE(WorkUntilOrder());
    EXPECT_TRUE(session_->ended());
    // More epochs change the variables again.
    start(4);
    EXPECT_TRUE(WorkUntilOrder());
  }
}

TEST_F(SessionOrdersTest, AKeptCheckpointThatIsLostEndsTheJob) {
  KeepEpoch(0);
  Start();
  WorkUntilIdle(kWorker0);
  ASSERT_TRUE(Take<TakeCheckpoint>());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(absl::ResourceExhaustedError("disk full"), now_);
  EXPECT_EQ(
      Message(Take<Ended>()),
      "the checkpoint of the best epoch was not written: disk full; there "
      "is no checkpoint to go on from: mend that, and start the job "
      "again");
}

TEST_F(SessionOrdersTest, AnErrorOfAServerEndsTheJob) {
  KeepEpoch(0);
  Start();
  ASSERT_TRUE(WorkUntilOrder());
  session_->VariablesChanged(BlamedOnPs0(absl::DataLossError("bent")), now_);
  const auto ended = Take<Ended>();
  EXPECT_EQ(Message(ended), "bent");
  EXPECT_EQ(ended->task, kPs0);
}

TEST_F(SessionOrdersTest, AllWorkersCarryOutAnOrder) {
  LetWorkersHoldVariables();
  KeepEpoch(0);
  StartWorkers();
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  EXPECT_EQ(OrderOf(kWorker0), 0) << "the leader has not named the checkpoint";
  Order(*change);
  // An answer that is lost comes again.
  EXPECT_EQ(OrderOf(kWorker0), 1);
  EXPECT_EQ(OrderOf(kWorker0), 1);
  ASSERT_TRUE(ReportOrder(kWorker0, 1).ok());
  EXPECT_EQ(OrderOf(kWorker0), 0);
  // So does a report.
  ASSERT_TRUE(ReportOrder(kWorker0, 1).ok());
  EXPECT_EQ(OrderOf(kWorker0), 0) << "worker 1 has not reported";
  EXPECT_EQ(OrderOf(kWorker1), 1);
  ASSERT_TRUE(ReportOrder(kWorker1, 1).ok());
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->phase(), v1::PHASE_TEST);
  ASSERT_TRUE(ReportOrder(kWorker0, 1).ok()) << "a late repeat";
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
}

TEST_F(SessionOrdersTest, ReportsOfOtherOrdersAreRefused) {
  LetWorkersHoldVariables();
  KeepEpoch(0);
  StartWorkers();
  EXPECT_EQ(ReportOrder(kWorker0, 1).code(),
            absl::StatusCode::kInvalidArgument);
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  Order(*change);
  for (const uint64_t number : {0, 2}) {
    EXPECT_EQ(ReportOrder(kWorker0, number).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(OrderOf(kWorker0), 1);
}

TEST_F(SessionOrdersTest, AnErrorOfAWorkerEndsTheJob) {
  LetWorkersHoldVariables();
  KeepEpoch(0);
  StartWorkers();
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  Order(*change);
  ASSERT_TRUE(ReportOrder(kWorker0, 1, absl::DataLossError("bent")).ok());
  EXPECT_EQ(Message(Take<Ended>()),
            "worker-0 at host-a:1 did not load the variables of "
            "step-000000000100: bent");
}

TEST_F(SessionOrdersTest, AWorkerThatDiesDuringAnOrderEndsTheJob) {
  LetWorkersHoldVariables();
  KeepEpoch(0);
  StartWorkers();
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  Order(*change);
  ASSERT_TRUE(ReportOrder(kWorker0, 1).ok());
  Pass(absl::Seconds(9), {kWorker1});
  EXPECT_THAT(Message(Take<Ended>()), AllOf(HasSubstr("worker-1 at host-b:1"),
                                            HasSubstr("no heartbeat")));
}

TEST_F(SessionOrdersTest, AnOrderHasADeadline) {
  LetWorkersHoldVariables();
  KeepEpoch(0);
  StartWorkers();
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  Order(*change);
  ASSERT_TRUE(ReportOrder(kWorker0, 1).ok());
  Pass(absl::Minutes(9), {});
  EXPECT_FALSE(session_->ended());
  Pass(absl::Minutes(2), {});
  const auto ended = Take<Ended>();
  EXPECT_EQ(Message(ended),
            "worker-1 at host-b:1 did not load the variables of "
            "step-000000000100 within 10m");
  EXPECT_EQ(ended->task, kWorker1);
}

}  // namespace
}  // namespace paceline
