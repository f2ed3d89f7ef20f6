// Validation with the averages of the variables in their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "common/callback/callback.h"
#include "common/session/machine/saved_session.h"
#include "tests/unit/session/session_orders_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// Has validation see the averages, and saves the model of each epoch.
class Swapper final : public Callback {
 public:
  explicit Swapper(bool saves) : saves_(saves) {}

  absl::string_view class_name() const override { return "Swapper"; }
  bool swaps_averages() const override { return true; }
  void EpochEnded(EpochEnd& end, Decision& decision) override {
    if (!saves_) return;
    SaveModel save;
    save.path = "x.keras";
    save.values = end.is_last ? SavedValues::kAverages : SavedValues::kSwapped;
    decision.saves.emplace_back(std::move(save));
  }

 private:
  const bool saves_;
};

class SessionSwapsTest : public SessionOrdersFixture {
 protected:
  SessionSwapsTest() { validation_examples_ = 20; }

  void Swap(bool saves = false) { Use(std::make_unique<Swapper>(saves)); }
  // The variables are to be swapped, and nothing else happens before they are.
  void ExpectSwap(uint64_t number) {
    const auto change = WorkUntilOrder();
    ASSERT_TRUE(change);
    EXPECT_EQ(change->order.kind(), v1::VariablesOrder::KIND_SWAP_AVERAGES);
    EXPECT_EQ(change->order.checkpoint(), "");
    EXPECT_EQ(change->order.number(), number);
    EXPECT_FALSE(Acquire(kWorker0));
  }
  void Swapped() { session_->VariablesChanged(absl::OkStatus(), now_); }
  void Validate() {
    const auto lease = Acquire(kWorker0);
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->phase(), v1::PHASE_VALIDATION);
    Finish(kWorker0, *lease);
    while (const auto next = Acquire(kWorker0)) {
      EXPECT_EQ(next->phase(), v1::PHASE_VALIDATION);
      Finish(kWorker0, *next);
    }
  }
  void Resume() {
    options_.restore_path = "/out/checkpoint/step-x";
    options_.restore = taken_.back().state;
    taken_.clear();
    incarnations_.clear();
    requests_.clear();
    Start();
  }
};

TEST_F(SessionSwapsTest, AveragesAreSwappedInAndBackAroundEachValidation) {
  Swap();
  Start();
  uint64_t number = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    ExpectSwap(++number);
    Swapped();
    Validate();
    EXPECT_EQ(session_->history().size(), static_cast<size_t>(epoch));
    ExpectSwap(++number);
    Swapped();
    EXPECT_EQ(session_->history().size(), static_cast<size_t>(epoch) + 1);
    EXPECT_FALSE(session_->history().back().validation_logs.empty());
    EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  }
  // The test set is evaluated with the variables.
  EXPECT_FALSE(WorkUntilOrder());
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionSwapsTest, NothingIsSwappedWithoutAValidation) {
  validation_examples_ = 0;
  Swap();
  Start();
  EXPECT_FALSE(WorkUntilOrder());
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionSwapsTest, OnlyEpochsWithAValidationSwap) {
  options_.job.set_validation_freq(3);
  Swap();
  Start();
  ExpectSwap(1);
  EXPECT_EQ(session_->history().size(), 2);
  Swapped();
  Validate();
  ExpectSwap(2);
  Swapped();
  EXPECT_FALSE(WorkUntilOrder());
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionSwapsTest, CheckpointsHaveTheVariables) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Swap(/*saves=*/true);
  Start();
  for (int epoch = 0; epoch < 3; ++epoch) {
    ExpectSwap(2 * epoch + 1);
    EXPECT_EQ(taken_.size(), static_cast<size_t>(epoch));
    Swapped();
    Validate();
    ExpectSwap(2 * epoch + 2);
    EXPECT_EQ(taken_.size(), static_cast<size_t>(epoch));
    Swapped();
  }
  EXPECT_FALSE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 3);
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    const SavedValues expected =
        epoch == 2 ? SavedValues::kAverages : SavedValues::kSwapped;
    ASSERT_EQ(taken_[epoch].saves.size(), 1);
    EXPECT_EQ(std::get<SaveModel>(taken_[epoch].saves[0]).values, expected);
    const auto saved = SavedSessionFromJson(*taken_[epoch].state);
    ASSERT_TRUE(saved.ok()) << saved.status();
    EXPECT_EQ(std::get<SaveModel>(saved->saves.at(0)).values, expected);
  }
}

TEST_F(SessionSwapsTest, WhichValuesAFileHasIsChecked) {
  Swap(/*saves=*/true);
  options_.job.set_epochs(1);
  validation_examples_ = 0;
  Start();
  EXPECT_FALSE(WorkUntilOrder());
  ASSERT_EQ(taken_.size(), 1);
  for (const char* const saves :
       {R"([["x.keras", false, "other"]])", R"([["x.keras", false, null]])",
        R"([["x.keras", false, 1]])", R"([["x.keras", "swapped", false]])",
        R"([["x.keras", false, "swapped", "swapped"]])"}) {
    nlohmann::json bent = *taken_[0].state;
    bent["saves"] = nlohmann::json::parse(saves);
    EXPECT_EQ(SavedSessionFromJson(bent).status().code(),
              absl::StatusCode::kDataLoss)
        << saves;
  }
}

// A checkpoint is never taken while averages are in the place of the variables,
// so that who goes on from it need not know of them.
TEST_F(SessionSwapsTest, AJobThatDiesBetweenTheSwapsResumesWithItsVariables) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Swap();
  Start();
  for (uint64_t number : {1, 2}) {
    ExpectSwap(number);
    Swapped();
    if (number == 1) Validate();
  }
  ExpectSwap(3);
  Swapped();
  Validate();
  ASSERT_EQ(taken_.size(), 1);
  Swap();
  Resume();
  ExpectSwap(1);
  EXPECT_EQ(session_->history().size(), 1);
  Swapped();
  Validate();
  ExpectSwap(2);
  Swapped();
  EXPECT_EQ(session_->history().size(), 2);
}

TEST_F(SessionSwapsTest, ACheckpointBeforeTheValidationGoesOnWithTheSwap) {
  options_.job.mutable_checkpoint()->set_every_epochs(9);
  Swap();
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  while (const auto next = Acquire(kWorker1)) Finish(kWorker1, *next);
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  Finish(kWorker0, *lease);
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  taken_.push_back(*checkpoint);
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
  EXPECT_FALSE(Take<ChangeVariables>());
  Swap();
  Resume();
  ExpectSwap(1);
  EXPECT_TRUE(session_->history().empty());
  Swapped();
  Validate();
  ExpectSwap(2);
}

TEST_F(SessionSwapsTest, AJobThatIsStoppedDoesNotWaitForASwap) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Swap();
  Start();
  ExpectSwap(1);
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  EXPECT_TRUE(session_->ended());
  EXPECT_TRUE(taken_.empty());
  Swapped();
  EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
}

TEST_F(SessionSwapsTest, AJobThatIsStoppedInTheSwapBackSavesTheEpoch) {
  for (const bool has_policy : {true, false}) {
    SCOPED_TRACE(has_policy);
    options_.job.clear_checkpoint();
    if (has_policy) options_.job.mutable_checkpoint()->set_every_epochs(9);
    Swap(/*saves=*/!has_policy);
    incarnations_.clear();
    requests_.clear();
    Start();
    ExpectSwap(1);
    Swapped();
    Validate();
    ExpectSwap(2);
    session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
    EXPECT_FALSE(session_->ended());
    EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
    Swapped();
    EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
    const auto checkpoint = Take<TakeCheckpoint>();
    ASSERT_TRUE(checkpoint);
    EXPECT_EQ(checkpoint->saves.empty(), has_policy);
    const auto saved = SavedSessionFromJson(*checkpoint->state);
    ASSERT_TRUE(saved.ok()) << saved.status();
    ASSERT_EQ(saved->history.size(), 1);
    EXPECT_FALSE(saved->history[0].validation_logs.empty());
    session_->SnapshotTaken(absl::OkStatus(), now_);
    session_->CheckpointWritten(absl::OkStatus(), now_);
    EXPECT_TRUE(session_->ended());
  }
}

// Its leases of the epoch are done, so others need not wait for it.
TEST_F(SessionSwapsTest, AWorkerMayBeLostWhileServersSwap) {
  Swap();
  Start();
  ExpectSwap(1);
  Pass(absl::Seconds(9), {kWorker1});
  EXPECT_FALSE(session_->ended());
  Swapped();
  Validate();
  ExpectSwap(2);
  Swapped();
  EXPECT_EQ(session_->history().size(), 1);
}

TEST_F(SessionSwapsTest, AnErrorOfAServerEndsTheJob) {
  Swap();
  Start();
  ExpectSwap(1);
  session_->VariablesChanged(BlamedOnPs0(absl::UnavailableError("gone")), now_);
  EXPECT_EQ(Message(Take<Ended>()), "gone");
}

class WorkersSwapTest : public SessionSwapsTest {
 protected:
  WorkersSwapTest() {
    LetWorkersHoldVariables();
    Swap();
    StartWorkers();
  }
  // Both workers get the order and report it.
  void CarryOut(uint64_t number) {
    const auto change = WorkUntilOrder();
    ASSERT_TRUE(change);
    Order(*change);
    for (const TaskId worker : {kWorker0, kWorker1}) {
      EXPECT_EQ(OrderOf(worker), number);
      EXPECT_EQ(OrderOf(worker), number);
      ASSERT_TRUE(ReportOrder(worker, number).ok());
      ASSERT_TRUE(ReportOrder(worker, number).ok()) << "a repeat";
    }
  }
};

TEST_F(WorkersSwapTest, EachWorkerSwaps) {
  CarryOut(1);
  Validate();
  CarryOut(2);
  ASSERT_EQ(session_->history().size(), 1);
  CarryOut(3);
  // A late repeat of an order that is done.
  ASSERT_TRUE(ReportOrder(kWorker1, 2).ok());
  Validate();
  CarryOut(4);
  EXPECT_EQ(session_->history().size(), 2);
}

TEST_F(WorkersSwapTest, AnErrorOfAWorkerEndsTheJob) {
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  Order(*change);
  ASSERT_TRUE(ReportOrder(kWorker0, 1, absl::InternalError("no device")).ok());
  EXPECT_EQ(Message(Take<Ended>()),
            "worker-0 at host-a:1 did not swap the variables with their "
            "averages: no device");
}

TEST_F(WorkersSwapTest, AnOrderHasADeadline) {
  const auto change = WorkUntilOrder();
  ASSERT_TRUE(change);
  Order(*change);
  ASSERT_TRUE(ReportOrder(kWorker0, 1).ok());
  Pass(absl::Minutes(11), {});
  EXPECT_THAT(Message(Take<Ended>()),
              HasSubstr("worker-1 at host-b:1 did not swap the variables with "
                        "their averages within 10m"));
}

}  // namespace
}  // namespace paceline
