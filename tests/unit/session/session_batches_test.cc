// Callbacks that hear of batches, and end an epoch within it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/callback/callback.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_callbacks_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Tells of batches, and stops training at a step or where an epoch begins.
class BatchReporter final : public Callback {
 public:
  BatchReporter(int64_t last_step, int last_epoch)
      : last_step_(last_step), last_epoch_(last_epoch) {}

  absl::string_view class_name() const override { return "BatchReporter"; }
  bool hears_batches() const override { return true; }
  void EpochBegan(const EpochStart& start, Decision& decision) override {
    decision.stops_training = start.epoch == last_epoch_;
  }
  void BatchEnded(const BatchEnd& end, Decision& decision) override {
    std::string text = absl::StrCat("batch ", end.epoch, ".", end.batch, ", ",
                                    end.count, " of ", end.steps, ":");
    for (const auto& [key, value] : end.logs) {
      absl::StrAppend(&text, " ", key, "=", value);
    }
    decision.outputs.emplace_back(ShowMessage{std::move(text)});
    decision.stops_training = end.steps >= last_step_;
    decision.learning_rate = end.steps / 1024.0;
  }

 private:
  const int64_t last_step_;
  const int last_epoch_;
};

// Tells of the time that batches and epochs took, and of updates.
class TimeReporter final : public Callback {
 public:
  absl::string_view class_name() const override { return "TimeReporter"; }
  bool hears_batches() const override { return true; }
  void BatchEnded(const BatchEnd& end, Decision& decision) override {
    decision.outputs.emplace_back(ShowMessage{absl::StrCat(
        "batch ", end.steps, ": ", end.count, " in ", end.seconds)});
  }
  void EpochEnded(EpochEnd& end, Decision& decision) override {
    decision.outputs.emplace_back(ShowMessage{absl::StrCat(
        "epoch ", end.epoch, ": ", end.epoch_iterations, " in ", end.seconds)});
  }
};

// Tells of each event of batches, and of what is around them.
class BatchTeller final : public Callback {
 public:
  explicit BatchTeller(int64_t last_step) : last_step_(last_step) {}

  absl::string_view class_name() const override { return "BatchTeller"; }
  bool hears_batches() const override { return true; }
  bool hears_validation_batches() const override { return true; }
  void EpochBegan(const EpochStart& start, Decision& decision) override {
    Say(absl::StrCat("epoch ", start.epoch), decision);
  }
  void BatchBegan(const BatchStart& start, Decision& decision) override {
    Say(absl::StrCat("begin ", start.epoch, ".", start.batch, " after ",
                     start.steps),
        decision);
    EXPECT_GT(start.learning_rate, 0);
  }
  void BatchEnded(const BatchEnd& end, Decision& decision) override {
    Say(absl::StrCat("end ", end.epoch, ".", end.batch), decision);
    decision.stops_training = end.steps >= last_step_;
  }
  void ValidationBegan(int, Decision& decision) override {
    Say("validation", decision);
  }
  void ValidationBatchBegan(int epoch, int64_t batch,
                            Decision& decision) override {
    Say(absl::StrCat("validate ", epoch, ".", batch), decision);
  }
  void ValidationBatchEnded(const ValidationBatchEnd& end,
                            Decision& decision) override {
    Say(absl::StrCat("validated ", end.epoch, ".", end.batch, ", ", end.count,
                     ": ", end.logs.at(0).first, "=", end.logs.at(0).second),
        decision);
  }
  void ValidationEnded(int, const Logs&, Decision& decision) override {
    Say("validation end", decision);
  }

 private:
  static void Say(std::string text, Decision& decision) {
    decision.outputs.emplace_back(ShowMessage{std::move(text)});
  }

  const int64_t last_step_;
};

class SessionBatchesTest : public SessionCallbacksTest {
 protected:
  void ReportBatches(int64_t last_step, int last_epoch = -1) {
    Use(std::make_unique<BatchReporter>(last_step, last_epoch));
  }
};

TEST_F(SessionBatchesTest, BatchesComeWithTheProgress) {
  ReportBatches(1000);
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_FALSE(lease->has_learning_rate());
  ASSERT_EQ(lease->end(), 250);
  for (const int64_t examples : {20, 20, 50, 250}) {
    ASSERT_TRUE(Beat(kWorker0, {ReportOf(*lease, examples)}).ok());
  }
  Work(/*answered=*/false);
  EXPECT_EQ(said_.at(1), "batch 0.1, 2 of 2: accuracy=0.5 loss=2");
  EXPECT_EQ(said_.at(2), "batch 0.4, 3 of 5: accuracy=0.5 loss=2");
  EXPECT_EQ(said_.at(3), "batch 0.24, 20 of 25: accuracy=0.5 loss=2");
  ASSERT_EQ(session_->history().size(), 5);
  EXPECT_EQ(session_->history().front().learning_rate, 100 / 1024.0);
}

TEST_F(SessionBatchesTest, ARateOfABatchHoldsFromTheNextLease) {
  ReportBatches(1000);
  Start();
  const auto first = Acquire(kWorker0);
  const auto second = Acquire(kWorker1);
  ASSERT_TRUE(first && second);
  Finish(kWorker0, *first);
  const auto next = Acquire(kWorker0);
  ASSERT_TRUE(next);
  EXPECT_FALSE(second->has_learning_rate());
  EXPECT_EQ(next->learning_rate(), 25 / 1024.0);
}

TEST_F(SessionBatchesTest, ABatchEndsTrainingWithTheOpenLeases) {
  ReportBatches(30);
  validation_examples_ = 100;
  Start();
  const auto first = Acquire(kWorker0);
  const auto second = Acquire(kWorker1);
  ASSERT_TRUE(first && second);
  Finish(kWorker0, *first);
  const auto third = Acquire(kWorker0);
  ASSERT_TRUE(third);
  Finish(kWorker1, *second);
  EXPECT_FALSE(Acquire(kWorker1)) << "training is over";
  Finish(kWorker0, *third);
  EXPECT_EQ(session_->Progress().phase, v1::PHASE_VALIDATION);
  Work();
  EXPECT_TRUE(session_->ended());
  ASSERT_EQ(session_->history().size(), 1);
  EXPECT_EQ(session_->history().front().examples,
            static_cast<int64_t>(third->end()));
}

// Workers that take each step together, and report it at times of their own.
class SharedBatchesTest : public SessionBatchesTest {
 protected:
  SharedBatchesTest() {
    options_.job.set_strategy(v1::STRATEGY_MULTI_WORKER_MIRRORED);
    options_.tasks = {
        {kWorker0, "host-a:1"}, {kWorker1, "host-b:1"}, {kWorker2, "host-c:1"}};
    // 40 steps of 30 examples.
    train_examples_ = 1200;
    options_.job.set_epochs(1);
    ReportBatches(1000);
  }

  void SetUp() override {
    Create();
    for (const TaskId worker : kAll) ASSERT_TRUE(Register(worker).ok());
    for (const TaskId worker : kAll) ASSERT_TRUE(AwaitStart(worker).ok());
    for (const TaskId worker : kAll) {
      const auto lease = Acquire(worker);
      ASSERT_TRUE(lease);
      ASSERT_EQ(lease->end(), 1200);
      lease_ = *lease;
    }
  }

  // The worker's loss is its index in every step, plus the step's number.
  v1::LeaseReport PartOf(TaskId worker, int64_t steps) const {
    v1::LeaseReport report;
    report.set_lease_id(lease_.id());
    report.set_examples(10 * steps);
    report.set_steps(steps);
    const double loss = worker.index + (steps + 1) / 2.0;
    for (const double value : {loss, 1.0, 0.5, 1.0}) {
      report.mutable_sums()->add_states(value * 10 * steps);
    }
    return report;
  }
  void Took(TaskId worker, int64_t steps) {
    ASSERT_TRUE(Beat(worker, {PartOf(worker, steps)}).ok());
  }
  // What callbacks have said since the last call.
  std::vector<std::string> Said() {
    Work();
    return std::exchange(said_, {});
  }

  static constexpr TaskId kWorker2 = {TaskType::kWorker, 2};
  static constexpr TaskId kAll[] = {kWorker0, kWorker1, kWorker2};
  v1::Lease lease_;
};

TEST_F(SharedBatchesTest, AnEventCoversTheStepsThatAllWorkersHaveReported) {
  Said();
  Took(kWorker0, 5);
  Took(kWorker1, 3);
  EXPECT_THAT(Said(), IsEmpty()) << "a worker has not reported";
  Took(kWorker2, 3);
  EXPECT_THAT(Said(), IsEmpty()) << "of step 3 the first has not said its part";
  Took(kWorker1, 5);
  Took(kWorker0, 9);
  Took(kWorker2, 5);
  EXPECT_THAT(Said(), ElementsAre("batch 0.4, 5 of 5: accuracy=0.5 loss=4"));
  // The same steps again, and late ones.
  Took(kWorker2, 5);
  Took(kWorker1, 4);
  EXPECT_THAT(Said(), IsEmpty());
  Took(kWorker1, 9);
  Took(kWorker2, 8);
  EXPECT_THAT(Said(), IsEmpty());
  Took(kWorker2, 9);
  EXPECT_THAT(Said(), ElementsAre("batch 0.8, 4 of 9: accuracy=0.5 loss=6"));
}

class SharedBatchesTellerTest : public SharedBatchesTest {
 protected:
  SharedBatchesTellerTest() { Use(std::make_unique<BatchTeller>(1000)); }
};

// The first worker has reported its whole lease before the others.
TEST_F(SharedBatchesTellerTest, EachGroupBeginsBeforeItEnds) {
  for (const TaskId worker : kAll) Took(worker, 5);
  for (const TaskId worker : kAll) {
    Took(worker, 10);
    if (worker == kWorker0) Took(worker, 40);
  }
  for (const TaskId worker : {kWorker1, kWorker2}) Took(worker, 40);
  EXPECT_THAT(Said(), ElementsAre("epoch 0", "title", "begin 0.0 after 0",
                                  "end 0.4", "begin 0.5 after 5", "end 0.9",
                                  "begin 0.10 after 10", "end 0.39", "bar"));
}

TEST_F(SharedBatchesTest, WhereALeaseEndsIsAnEvent) {
  Said();
  for (const TaskId worker : kAll) Took(worker, 40);
  ASSERT_EQ(session_->history().size(), 1);
  EXPECT_EQ(session_->history().front().logs.front().second, 21.5);
  EXPECT_EQ(Said().front(), "batch 0.39, 40 of 40: accuracy=0.5 loss=21.5");
}

// A service takes the tasks away meanwhile.
TEST_F(SessionBatchesTest, AnEpochThatWasCutShortIsValidatedAfterAResume) {
  ReportBatches(20);
  validation_examples_ = 100;
  options_.job.mutable_checkpoint()->set_every_epochs(5);
  Start();
  const auto first = Acquire(kWorker0);
  const auto second = Acquire(kWorker1);
  ASSERT_TRUE(first && second);
  Finish(kWorker0, *first);
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  Finish(kWorker1, *second);
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  checkpoint_ = checkpoint->state;
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
  EXPECT_TRUE(session_->history().empty());
  ReportBatches(1000);
  Resume();
  EXPECT_EQ(session_->Progress().phase, v1::PHASE_VALIDATION);
  Work();
  EXPECT_THAT(noted_, Contains(StartsWith("nothing is left to train: "
                                          "BatchReporter has ended training in "
                                          "epoch 1 of 5, ")));
  EXPECT_TRUE(session_->ended());
  ASSERT_EQ(session_->history().size(), 1);
  EXPECT_EQ(session_->history().front().examples,
            static_cast<int64_t>(second->end()));
  EXPECT_FALSE(session_->history().front().validation_logs.empty());
}

TEST_F(SessionBatchesTest, EventsSayHowLongStepsTook) {
  Use(std::make_unique<TimeReporter>());
  options_.job.set_epochs(1);
  options_.job.set_initial_iterations(1);
  options_.calls_per_update = 2;
  validation_examples_ = 10;
  Start();
  now_ += absl::Seconds(2);
  const auto first = Acquire(kWorker0);
  ASSERT_TRUE(first);
  ASSERT_TRUE(Beat(kWorker0, {ReportOf(*first, 20)}).ok());
  now_ += absl::Seconds(3);
  ASSERT_TRUE(Beat(kWorker0, {ReportOf(*first, 50)}).ok());
  Finish(kWorker0, *first);
  while (session_->Progress().phase == v1::PHASE_TRAIN) {
    const auto lease = Acquire(kWorker0);
    ASSERT_TRUE(lease);
    Finish(kWorker0, *lease);
  }
  now_ += absl::Seconds(4);
  Work();
  EXPECT_EQ(said_.at(1), "batch 2: 2 in 2");
  EXPECT_EQ(said_.at(2), "batch 5: 3 in 3");
  EXPECT_THAT(said_, Contains("epoch 0: 50 in 9"));
}

TEST_F(SessionBatchesTest, TimeGoesOnAfterAResume) {
  Use(std::make_unique<TimeReporter>());
  options_.job.mutable_checkpoint()->set_every_steps(50);
  Start();
  now_ += absl::Seconds(10);
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  Use(std::make_unique<TimeReporter>());
  // Another clock.
  now_ += absl::Hours(1);
  Resume();
  now_ += absl::Seconds(2);
  Work(/*answered=*/false);
  EXPECT_THAT(said_.at(1), AllOf(StartsWith("batch "), EndsWith(" in 2")));
  EXPECT_THAT(said_, Contains("epoch 0: 100 in 12"));
}

TEST_F(SessionBatchesTest, BatchesBeginBeforeTheyEnd) {
  Use(std::make_unique<BatchTeller>(1000));
  options_.job.set_epochs(1);
  validation_examples_ = 100;
  test_examples_ = 100;
  Start();
  const auto first = Acquire(kWorker0);
  const auto second = Acquire(kWorker1);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->end(), 250);
  for (const int64_t examples : {20, 250}) {
    ASSERT_TRUE(Beat(kWorker0, {ReportOf(*first, examples)}).ok());
  }
  Finish(kWorker1, *second);
  const size_t told = 6;
  Work();
  ASSERT_GT(said_.size(), told);
  EXPECT_THAT(std::vector<std::string>(said_.begin(), said_.begin() + told),
              ElementsAre("epoch 0", "title", "begin 0.0 after 0", "end 0.1",
                          "begin 0.2 after 2", "end 0.24"));
  // They take turns, and one that has begun ends.
  std::string last = "epoch 0";
  int begun = 0;
  int validated = 0;
  for (const std::string& text : said_) {
    if (absl::StartsWith(text, "begin ")) {
      ++begun;
      EXPECT_THAT(last, AnyOf("epoch 0", StartsWith("end "))) << text;
    } else if (absl::StartsWith(text, "end ")) {
      EXPECT_THAT(last, StartsWith("begin "));
    } else if (text == "validation") {
      EXPECT_EQ(last, "end 0.99");
    } else if (absl::StartsWith(text, "validate ")) {
      EXPECT_THAT(last, AnyOf("validation", StartsWith("validated ")));
    } else if (absl::StartsWith(text, "validated ")) {
      ++validated;
      EXPECT_THAT(last, StartsWith("validate "));
      EXPECT_THAT(text, EndsWith(": accuracy=0.5"));
    } else if (text == "validation end") {
      EXPECT_THAT(last, StartsWith("validated 0.9, "));
    } else {
      continue;
    }
    last = text;
  }
  EXPECT_EQ(last, "validation end") << "the test set has no such events";
  EXPECT_GE(begun, 3);
  EXPECT_GE(validated, 1);
}

TEST_F(SessionBatchesTest, NoBatchBeginsWhereTrainingHasStopped) {
  Use(std::make_unique<BatchTeller>(1));
  Start();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  Finish(kWorker0, *lease);
  Work();
  EXPECT_THAT(said_, Contains("end 0.24"));
  EXPECT_THAT(said_, Contains(StartsWith("begin ")).Times(1));
}

// The leases of a lost worker are taken anew: what was told is not told again.
TEST_F(SessionBatchesTest, ValidationOfALostWorkerIsToldOnce) {
  Use(std::make_unique<BatchTeller>(1000));
  options_.job.set_epochs(1);
  validation_examples_ = 100;
  Start();
  while (session_->Progress().phase == v1::PHASE_TRAIN) {
    const auto lease = Acquire(kWorker0);
    ASSERT_TRUE(lease);
    Finish(kWorker0, *lease);
  }
  const auto lost = Acquire(kWorker1);
  ASSERT_TRUE(lost);
  ASSERT_TRUE(Beat(kWorker1, {ReportOf(*lost, 10)}).ok());
  Pass(absl::Seconds(9), {kWorker1});
  ASSERT_TRUE(Beat(kWorker0).ok());
  Work();
  EXPECT_THAT(said_, Contains(StartsWith("validated 0.0, 1")).Times(1));
  EXPECT_THAT(said_, Contains(StartsWith("validated 0.9, ")).Times(1));
}

// As Keras, which looks after a batch whether training goes on.
TEST_F(SessionBatchesTest, AnEpochThatBeginsStoppedHasOneStep) {
  ReportBatches(1000, /*last_epoch=*/1);
  Start();
  Work();
  EXPECT_TRUE(session_->ended());
  ASSERT_EQ(session_->history().size(), 2);
  EXPECT_EQ(session_->history().back().steps, 1);
}

TEST_F(SessionBatchesTest, BatchesGoOnAfterAResume) {
  ReportBatches(1000);
  options_.job.mutable_checkpoint()->set_every_steps(150);
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  ReportBatches(1000);
  Resume();
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->learning_rate(), 150 / 1024.0);
  ASSERT_TRUE(Beat(kWorker0, {ReportOf(*lease, 10)}).ok());
  Work(/*answered=*/false);
  EXPECT_EQ(said_.at(1), "batch 1.50, 1 of 151: accuracy=0.5 loss=2");
}

}  // namespace
}  // namespace paceline
