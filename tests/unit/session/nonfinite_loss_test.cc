// What becomes of a loss that is infinite or no number.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/session/machine/loss_watch.h"
#include "common/session/machine/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// --- Who was first -----------------------------------------------------------

TEST(LossWatchTest, AWorkerWithLeasesOfItsOwnIsTheFirstAtOnce) {
  LossWatch watch;
  watch.Reached(kWorker1, {3, 60});
  EXPECT_FALSE(watch.first());
  watch.Found({4, 2}, {kWorker1, 0, 22});
  ASSERT_TRUE(watch.first());
  EXPECT_EQ(watch.first()->worker, kWorker1);
  EXPECT_EQ(watch.first()->step, 22);
}

TEST(LossWatchTest, WorkersOfALeaseAreAwaitedAndTheSmallestStepWins) {
  LossWatch watch(/*workers_per_lease=*/2);
  watch.Found({4, 9}, {kWorker1, 0, 29});
  watch.Reached(kWorker1, {4, 20});
  watch.Reached(kWorker0, {4, 8});
  EXPECT_FALSE(watch.first()) << "worker-0 has not told of step 9";
  watch.Found({4, 7}, {kWorker0, 0, 27});
  watch.Reached(kWorker0, {4, 20});
  ASSERT_TRUE(watch.first());
  EXPECT_EQ(watch.first()->worker, kWorker0);
  EXPECT_EQ(watch.first()->step, 27);
}

TEST(LossWatchTest, OfTheSameStepTheLowestRankWins) {
  for (const TaskId first : {kWorker0, kWorker1}) {
    const TaskId second = first == kWorker0 ? kWorker1 : kWorker0;
    LossWatch watch(/*workers_per_lease=*/2);
    for (const TaskId worker : {first, second}) {
      EXPECT_FALSE(watch.first());
      watch.Found({4, 9}, {worker, 0, 29});
      watch.Reached(worker, {4, 9});
    }
    ASSERT_TRUE(watch.first());
    EXPECT_EQ(watch.first()->worker, kWorker0);
  }
}

TEST(LossWatchTest, ALaterLeaseIsBeyondAnEarlierOne) {
  LossWatch watch(/*workers_per_lease=*/2);
  watch.Found({4, 9}, {kWorker1, 0, 29});
  watch.Reached(kWorker1, {4, 9});
  watch.Reached(kWorker0, {5, 1});
  EXPECT_TRUE(watch.first());
}

TEST(LossWatchTest, NamesHaveNoSignOfANan) {
  EXPECT_EQ(NonfiniteName(-std::nan("")), "nan");
  EXPECT_EQ(NonfiniteName(-std::numeric_limits<double>::infinity()), "-inf");
}

// --- What the session makes of it --------------------------------------------

class NonfiniteLossTest : public SessionTest {
 protected:
  NonfiniteLossTest() { options_.job.set_terminate_on_nan(true); }

  // A report whose loss was bad in this step, from 1.
  static v1::LeaseReport BadReport(
      const v1::Lease& lease, int64_t examples, uint64_t step,
      double loss = std::numeric_limits<double>::quiet_NaN()) {
    v1::LeaseReport report = ReportOf(lease, examples);
    report.mutable_sums()->set_states(0, loss);
    report.set_first_nonfinite_step(step);
    return report;
  }
};

TEST_F(NonfiniteLossTest, EndsTheJobAndNamesWorkerEpochAndStep) {
  options_.job.set_epochs(2);
  Start();
  const auto first = Acquire(kWorker0);
  const auto lease = Acquire(kWorker1);
  ASSERT_TRUE(first && lease);
  const auto answer = Beat(kWorker1, {BadReport(*lease, 40, 3)});
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->stop());
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ended->task, kWorker1);
  const auto step = static_cast<int64_t>(lease->begin()) / 10 + 3;
  EXPECT_THAT(
      Message(ended),
      AllOf(HasSubstr("worker-1 at host-b:1: the loss of step " +
                      std::to_string(step) +
                      ", in epoch 1 of 2, is not finite (nan)"),
            HasSubstr("learning_rate"), HasSubstr("terminate_on_nan: false")));
  ASSERT_TRUE(session_->nonfinite_loss());
  EXPECT_EQ(session_->nonfinite_loss()->step, step);
  EXPECT_EQ(session_->nonfinite_loss()->epoch, 0);
}

// The last report of an epoch, which would have ended it.
TEST_F(NonfiniteLossTest, TakesNoCheckpointAndEndsNoEpochAfterIt) {
  train_examples_ = 10;
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(Beat(kWorker0, {BadReport(*lease, 10, 1)}).ok());
  bool has_ended = false;
  for (const Action& action : session_->TakeActions()) {
    EXPECT_FALSE(std::holds_alternative<TakeCheckpoint>(action));
    EXPECT_FALSE(std::holds_alternative<EpochEnded>(action));
    has_ended = has_ended || std::holds_alternative<Ended>(action);
  }
  EXPECT_TRUE(has_ended);
}

TEST_F(NonfiniteLossTest, IsOnlyToldWithoutTerminateOnNan) {
  options_.job.set_terminate_on_nan(false);
  Start();
  int notices = 0;
  while (const auto lease = Acquire(kWorker0)) {
    const int64_t size = static_cast<int64_t>(lease->end() - lease->begin());
    ASSERT_TRUE(Beat(kWorker0, {BadReport(*lease, size, 1, -HUGE_VAL)}).ok());
    for (const Action& action : session_->TakeActions()) {
      const auto* notice = std::get_if<Notice>(&action);
      if (notice == nullptr) continue;
      ++notices;
      EXPECT_THAT(notice->message,
                  HasSubstr("the loss of step 1, in epoch 1 of 1, is not "
                            "finite (-inf); training goes on"));
    }
  }
  EXPECT_EQ(notices, 1);
  ASSERT_TRUE(session_->ended());
  EXPECT_EQ(session_->history().size(), 1u);
  EXPECT_EQ(session_->nonfinite_loss()->step, 1);
}

// Workers that step together: the one with the smaller step, though it tells of
// it later.
TEST_F(NonfiniteLossTest, OfWorkersThatShareALeaseTheFirstIsNamed) {
  options_.tasks = {{kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
  options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease && Acquire(kWorker1));
  v1::LeaseReport late = BadReport(*lease, 20, 2);
  late.set_steps(4);
  ASSERT_TRUE(Beat(kWorker1, {late}).ok());
  EXPECT_FALSE(session_->ended());
  v1::LeaseReport early = BadReport(*lease, 20, 1);
  early.set_steps(4);
  ASSERT_TRUE(Beat(kWorker0, {early}).ok());
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kWorker0);
  EXPECT_THAT(Message(ended), HasSubstr("the loss of step 1,"));
}

TEST_F(NonfiniteLossTest, ExplainsTheLossOfAWorkerThatSharesALease) {
  options_.tasks = {{kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}};
  options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease && Acquire(kWorker1));
  ASSERT_TRUE(Beat(kWorker1, {BadReport(*lease, 20, 2)}).ok());
  session_->TaskExited(kWorker0, 1, now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kWorker1);
  EXPECT_THAT(Message(ended), HasSubstr("is not finite"));
}

// The worker died before a heartbeat could tell.
TEST_F(NonfiniteLossTest, IsFoundInTheRecordsOfTheShards) {
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  const v1::WorkerId worker = WorkerIdOf(kWorker0);
  session_->TaskExited(kWorker0, 1, now_);
  ASSERT_TRUE(Take<FenceWorker>());
  v1::FenceResponse answer;
  *answer.mutable_progress()->mutable_lease() = BadReport(*lease, 10, 1);
  session_->Fenced(worker, {{answer}}, now_);
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->task, kWorker0);
}

TEST_F(NonfiniteLossTest, OfTheValidationSetIsToldAndEndsNothing) {
  options_.job.set_epochs(2);
  validation_examples_ = 20;
  Start();
  int notices = 0;
  while (const auto lease = Acquire(kWorker0)) {
    const int64_t size = static_cast<int64_t>(lease->end() - lease->begin());
    v1::LeaseReport report = ReportOf(*lease, size);
    if (lease->phase() == v1::PHASE_VALIDATION) {
      report.mutable_sums()->set_states(0, HUGE_VAL);
    }
    ASSERT_TRUE(Beat(kWorker0, {report}).ok());
    for (const Action& action : session_->TakeActions()) {
      const auto* notice = std::get_if<Notice>(&action);
      if (notice == nullptr) continue;
      ++notices;
      EXPECT_EQ(notice->message,
                "the loss of data.validation in epoch 1 is not finite (inf)");
    }
  }
  EXPECT_EQ(notices, 1);
  EXPECT_TRUE(session_->ended());
  EXPECT_FALSE(session_->nonfinite_loss());
}

}  // namespace
}  // namespace paceline
