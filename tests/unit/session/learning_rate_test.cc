// Learning rates that callbacks set, in leases, records and checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/callback/callback_list.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// Sets learning rates where epochs begin and end.
class SetsRates final : public Callback {
 public:
  SetsRates(std::map<int, double> at_begin, std::map<int, double> at_end)
      : at_begin_(std::move(at_begin)), at_end_(std::move(at_end)) {}

  absl::string_view class_name() const override { return "SetsRates"; }
  void EpochBegan(const EpochStart& start, Decision& decision) override {
    Set(at_begin_, start.epoch, decision);
  }
  void EpochEnded(EpochEnd& end, Decision& decision) override {
    Set(at_end_, end.epoch, decision);
  }

 private:
  static void Set(const std::map<int, double>& rates, int epoch,
                  Decision& decision) {
    const auto rate = rates.find(epoch);
    if (rate != rates.end()) decision.learning_rate = rate->second;
  }

  const std::map<int, double> at_begin_;
  const std::map<int, double> at_end_;
};

class LearningRateTest : public SessionTest {
 protected:
  void SetRates(std::map<int, double> at_begin, std::map<int, double> at_end) {
    std::vector<std::unique_ptr<Callback>> callbacks;
    callbacks.push_back(
        std::make_unique<SetsRates>(std::move(at_begin), std::move(at_end)));
    options_.callbacks = std::make_shared<CallbackList>(std::move(callbacks));
  }

  // The learning rate of the next lease, which is then done; NaN: none.
  double NextRate() {
    const auto lease = Acquire(kWorker0);
    if (!lease) return std::numeric_limits<double>::infinity();
    Finish(kWorker0, *lease);
    return lease->has_learning_rate() ? lease->learning_rate() : NAN;
  }
};

TEST_F(LearningRateTest, LeasesHaveWhatWasSet) {
  options_.job.set_epochs(4);
  SetRates({{1, 0.25}}, {{2, 0.1}});
  Start();
  EXPECT_TRUE(std::isnan(NextRate()));
  WorkUntilIdle(kWorker0);
  const std::vector<EpochRecord>& history = session_->history();
  ASSERT_EQ(history.size(), 4);
  EXPECT_EQ(history[0].learning_rate, 1.0 / 101) << "the schedule's";
  EXPECT_EQ(history[1].learning_rate, 0.25);
  EXPECT_EQ(history[2].learning_rate, 0.25) << "before it was set";
  EXPECT_EQ(history[3].learning_rate, static_cast<float>(0.1)) << "as in Keras";
}

TEST_F(LearningRateTest, ValidationHasNone) {
  validation_examples_ = 10;
  SetRates({{0, 0.25}}, {});
  Start();
  while (session_->Progress().phase == v1::PHASE_TRAIN) {
    EXPECT_EQ(NextRate(), 0.25);
  }
  EXPECT_TRUE(std::isnan(NextRate()));
}

// What the callback sets at the begin of an epoch it does not set again amid
// it.
TEST_F(LearningRateTest, GoesOnAfterAResume) {
  options_.job.set_epochs(2);
  options_.job.mutable_checkpoint()->set_every_steps(130);
  SetRates({{1, 0.25}}, {});
  Start();
  WorkUntilIdle(kWorker0);
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  ASSERT_EQ(checkpoint->step, 130);
  options_.restore = std::make_shared<const nlohmann::json>(
      nlohmann::json::parse(checkpoint->state->dump()));
  options_.restore_path = "/out/checkpoint/130";
  SetRates({}, {});
  for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  Start();
  EXPECT_EQ(NextRate(), 0.25);
  WorkUntilIdle(kWorker0);
  session_->SnapshotTaken(absl::OkStatus(), now_);
  ASSERT_EQ(session_->history().size(), 2);
  EXPECT_EQ(session_->history()[1].learning_rate, 0.25);
}

TEST_F(LearningRateTest, CheckpointsWithoutItAreAsBefore) {
  options_.job.mutable_checkpoint()->set_every_steps(30);
  Start();
  WorkUntilIdle(kWorker0);
  const auto checkpoint = Take<TakeCheckpoint>();
  ASSERT_TRUE(checkpoint);
  EXPECT_FALSE(checkpoint->state->contains("learning_rate"));
}

TEST_F(LearningRateTest, OneThatCannotBeEndsTheJob) {
  for (const double rate : {-0.5, static_cast<double>(NAN), HUGE_VAL, 1e39}) {
    options_.job.set_epochs(2);
    SetRates({{1, rate}}, {});
    Start();
    while (!session_->ended()) NextRate();
    const auto ended = Take<Ended>();
    ASSERT_TRUE(ended) << rate;
    EXPECT_EQ(ended->status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(ended),
                HasSubstr("by the callbacks of epoch 2; expected a number"));
    for (const TaskId task : {kPs0, kWorker0, kWorker1}) Restart(task);
  }
}

}  // namespace
}  // namespace paceline
