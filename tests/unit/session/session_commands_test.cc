// What a session waits for while programs of callbacks run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/callback.h"
#include "common/callback/callback_list.h"
#include "common/session/machine/session.h"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

// Asks for a program at each event, and says what it answers.
class Asker final : public Callback {
 public:
  absl::string_view class_name() const override { return "Asker"; }
  bool hears_batches() const override { return true; }
  void TrainingBegan(Decision& decision) override { Ask("begin", decision); }
  void EpochBegan(const EpochStart&, Decision& decision) override {
    Ask("epoch", decision);
  }
  void BatchEnded(const BatchEnd&, Decision& decision) override {
    if (!std::exchange(has_batch_, true)) Ask("batch", decision);
  }
  void ValidationBegan(int, Decision& decision) override {
    Ask("validation", decision);
  }
  void ValidationEnded(int, const Logs& logs, Decision& decision) override {
    Ask(absl::StrCat("validated ", logs.back().first), decision);
  }
  void EpochEnded(EpochEnd&, Decision& decision) override {
    Ask("epoch end", decision);
  }
  void TrainingEnded(Decision& decision) override { Ask("end", decision); }
  absl::Status Answered(const RunCommand& run,
                        const absl::StatusOr<std::string>& output,
                        Decision& decision) override {
    RETURN_IF_ERROR(output.status());
    decision.outputs.emplace_back(
        ShowMessage{absl::StrCat(run.input, ": ", *output)});
    if (*output == "stop") decision.stops_training = true;
    if (*output == "rate") decision.learning_rate = 0.25;
    return absl::OkStatus();
  }

 private:
  static void Ask(std::string what, Decision& decision) {
    RunCommand run;
    run.is_awaited = what != "batch";
    run.input = std::move(what);
    decision.outputs.emplace_back(std::move(run));
  }

  bool has_batch_ = false;
};

class SessionCommandsTest : public SessionTest {
 protected:
  SessionCommandsTest() {
    options_.job.set_epochs(3);
    std::vector<std::unique_ptr<Callback>> callbacks;
    callbacks.push_back(std::make_unique<Asker>());
    options_.callbacks = std::make_shared<CallbackList>(std::move(callbacks));
  }

  // Takes the actions: programs to run go to runs_, and what happened to said_.
  void Take() {
    for (const Action& action : session_->TakeActions()) {
      if (const auto* orders = std::get_if<ServeCallbacks>(&action)) {
        for (const CallbackOutput& output : orders->outputs) {
          if (const auto* run = std::get_if<RunCommand>(&output)) {
            runs_.push_back(*run);
          } else {
            said_.push_back(std::get<ShowMessage>(output).text);
          }
        }
      } else if (std::holds_alternative<EpochBegan>(action)) {
        said_.emplace_back("title");
      } else if (std::holds_alternative<EpochEnded>(action)) {
        said_.emplace_back("bar");
      }
    }
    EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
  }
  // The program that was asked for first ends.
  void Answer(const std::string& input,
              const absl::StatusOr<std::string>& output) {
    Take();
    ASSERT_FALSE(runs_.empty()) << "instead of " << input;
    const RunCommand run = runs_.front();
    runs_.erase(runs_.begin());
    EXPECT_EQ(run.input, input);
    session_->CommandEnded(run, output, now_);
    Take();
  }

  std::vector<RunCommand> runs_;
  std::vector<std::string> said_;
};

TEST_F(SessionCommandsTest, AFailureEndsTheJob) {
  Start();
  Answer("begin", "");
  Answer("epoch", "");
  WorkUntilIdle(kWorker0);
  Answer("batch", "");
  Take();
  session_->CommandEnded(runs_.at(0), absl::InternalError("it failed"), now_);
  EXPECT_EQ(Message(SessionTest::Take<Ended>()), "it failed");
  EXPECT_TRUE(session_->ended());
  EXPECT_EQ(session_->history().size(), 1);
}

TEST_F(SessionCommandsTest, TheJobWaitsForAnswers) {
  validation_examples_ = 100;
  test_examples_ = 100;
  Start();
  Answer("begin", "");
  EXPECT_EQ(WorkUntilIdle(kWorker0), 0);
  Answer("epoch", "rate");
  const auto lease = Acquire(kWorker0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->learning_rate(), 0.25);
  Finish(kWorker0, *lease);
  // It goes on while a program of a batch runs.
  EXPECT_EQ(WorkUntilIdle(kWorker0), train_examples_ - 250);
  Answer("batch", "slow");
  EXPECT_EQ(WorkUntilIdle(kWorker0), 0);
  Answer("validation", "");
  EXPECT_EQ(WorkUntilIdle(kWorker0), 100);
  Answer("validated loss", "");
  EXPECT_EQ(session_->history().size(), 1);
  EXPECT_EQ(WorkUntilIdle(kWorker0), 0);
  Answer("epoch end", "stop");
  EXPECT_EQ(WorkUntilIdle(kWorker0), 0);
  Answer("end", "");
  EXPECT_EQ(WorkUntilIdle(kWorker0), 100);
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionCommandsTest, TheBarComesAfterTheAnswer) {
  Start();
  Answer("begin", "hello");
  Answer("epoch", "on");
  WorkUntilIdle(kWorker0);
  Answer("batch", "seen");
  Answer("epoch end", "stop");
  EXPECT_FALSE(session_->ended());
  Answer("end", "bye");
  EXPECT_THAT(said_,
              ElementsAre("title", "begin: hello", "epoch: on", "batch: seen",
                          "epoch end: stop", "bar", "end: bye"));
  EXPECT_TRUE(session_->ended());
  EXPECT_EQ(session_->history().size(), 1);
}

// A service takes the job's tasks away while a program runs.
TEST_F(SessionCommandsTest, AnEarlyEndTakesTheCheckpointOfTheEpoch) {
  options_.job.mutable_checkpoint()->set_every_epochs(3);
  Start();
  Answer("begin", "");
  Answer("epoch", "");
  WorkUntilIdle(kWorker0);
  Answer("batch", "");
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  EXPECT_FALSE(session_->ended());
  Answer("epoch end", "");
  EXPECT_FALSE(session_->ended());
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
}

}  // namespace
}  // namespace paceline
