// When a session asks callbacks at epochs, what their decisions do to the job,
// and how their state comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"
#include "nlohmann/json.hpp"
#include "tests/unit/session/session_callbacks_fixture.h"

namespace paceline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SessionCallbacksTest, TheyComeBeforeTheBarAndEndTraining) {
  ReportUntil(1);
  validation_examples_ = 100;
  Start();
  Work();
  EXPECT_THAT(
      said_,
      ElementsAre("begin 0", "title",
                  "end 0: accuracy=0.5 loss=2 val_accuracy=0.5 val_loss=2 "
                  "iterations=100",
                  "bar", "begin 1", "title",
                  "end 1: accuracy=0.5 loss=2 val_accuracy=0.5 val_loss=2 "
                  "iterations=200",
                  "bar", "done after 2"));
  EXPECT_TRUE(session_->ended());
  EXPECT_EQ(session_->history().size(), 2);
}

TEST_F(SessionCallbacksTest, AJobThatACallbackEndsIsSavedAndTested) {
  ReportUntil(2);
  test_examples_ = 50;
  options_.job.mutable_checkpoint()->set_every_epochs(5);
  Start();
  Work();
  ASSERT_TRUE(checkpoint_);
  EXPECT_EQ(checkpoint_->at("epoch"), 3);
  EXPECT_TRUE(session_->ended());
  EXPECT_THAT(noted_, IsEmpty());
  // Resumed, it has no more to train, also with more epochs.
  options_.job.set_epochs(9);
  ReportUntil(-1);
  Resume();
  Work();
  EXPECT_THAT(said_, ElementsAre("done after 3"));
  EXPECT_THAT(
      noted_,
      Contains("nothing is left to train: Reporter has ended training after "
               "epoch 3 of 9, and the checkpoint says so; without --resume "
               "the job trains anew"));
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionCallbacksTest, TheirStateIsThatOfTheCheckpoint) {
  ReportUntil(-1);
  options_.job.mutable_checkpoint()->set_every_steps(250);
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  ReportUntil(3);
  Resume();
  Work();
  // The third epoch had begun before the checkpoint.
  EXPECT_EQ(said_.front(), "title");
  EXPECT_EQ(said_.at(1), "end 2: accuracy=0.5 loss=2 iterations=300");
  EXPECT_EQ(said_.back(), "done after 4");
}

TEST_F(SessionCallbacksTest, AnEpochBeginsOnce) {
  ReportUntil(-1);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  ReportUntil(-1);
  Resume();
  Work(/*answered=*/false);
  EXPECT_EQ(said_.front(), "begin 1");
  // As if the checkpoint was taken once the next epoch had begun.
  nlohmann::json begun = *checkpoint_;
  EXPECT_EQ(begun.at("begun"), false);
  begun["begun"] = true;
  checkpoint_ = std::make_shared<const nlohmann::json>(std::move(begun));
  ReportUntil(-1);
  Resume();
  Work(/*answered=*/false);
  EXPECT_EQ(said_.front(), "title");
}

TEST_F(SessionCallbacksTest, AStateOfOthersIsRefused) {
  ReportUntil(-1);
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  Work(/*answered=*/false);
  options_.callbacks = nullptr;
  options_.restore_path = "/out/checkpoint/step-x";
  options_.restore = checkpoint_;
  const auto resumed = Session::Create(options_, now_);
  EXPECT_EQ(resumed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(resumed.status().message()),
              HasSubstr("cannot resume from /out/checkpoint/step-x: "
                        "session.callbacks: the checkpoint has the state of "
                        "callbacks Reporter; the job has no callbacks"));
}

TEST_F(SessionCallbacksTest, ACheckpointOfAnEarlierReleaseHasNoState) {
  options_.job.mutable_checkpoint()->set_every_epochs(1);
  Start();
  Work(/*answered=*/false);
  nlohmann::json earlier = *checkpoint_;
  earlier.erase("callbacks");
  earlier.erase("stopped");
  const auto saved = SavedSessionFromJson(earlier);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_FALSE(saved->stopped);
  EXPECT_THAT(saved->callbacks, IsEmpty());
  earlier["stopped"] = 1;
  EXPECT_EQ(SavedSessionFromJson(earlier).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(SessionCallbacksTest, AFailureEndsTheJob) {
  ReportUntil(-1).failing_epoch = 1;
  Start();
  while (!session_->ended()) {
    const auto lease = Acquire(kWorker0);
    ASSERT_TRUE(lease);
    Finish(kWorker0, *lease);
  }
  const auto ended = Take<Ended>();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, absl::InvalidArgumentError("it fails"));
  EXPECT_EQ(session_->history().size(), 2);
}

}  // namespace
}  // namespace paceline
