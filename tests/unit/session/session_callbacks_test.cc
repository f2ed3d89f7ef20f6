// When a session asks callbacks, and what their decisions do to the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/callback.h"
#include "common/callback/callback_list.h"
#include "common/checkpoint/object_reader.h"
#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"
#include "nlohmann/json.hpp"
#include "tests/unit/session/session_fixture.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Says what happens, ends training after an epoch, and counts the epochs.
class Reporter final : public Callback {
 public:
  explicit Reporter(int last_epoch) : last_epoch_(last_epoch) {}

  absl::string_view class_name() const override { return "Reporter"; }
  void EpochBegan(const EpochStart& start, Decision& decision) override {
    Say(absl::StrCat("begin ", start.epoch), decision);
  }
  void EpochEnded(EpochEnd& end, Decision& decision) override {
    ++epochs_;
    std::string text = absl::StrCat("end ", end.epoch, ":");
    for (const auto& [key, value] : end.logs) {
      absl::StrAppend(&text, " ", key, "=", value);
    }
    Say(absl::StrCat(text, " iterations=", end.iterations), decision);
    decision.stops_training = end.epoch == last_epoch_;
    if (end.epoch == saved_epoch) decision.saves = {{"a/x.keras"}};
    if (end.epoch == failing_epoch) {
      decision.failure = absl::InvalidArgumentError("it fails");
    }
  }
  void TrainingEnded(Decision& decision) override {
    Say(absl::StrCat("done after ", epochs_), decision);
  }
  nlohmann::json Save() const override { return {{"epochs", epochs_}}; }

  // The model of this epoch is saved; -1: none.
  int saved_epoch = -1;
  int failing_epoch = -1;

  absl::Status Restore(const ObjectReader& state) override {
    ASSIGN_OR_RETURN(epochs_, state.Count("epochs", 100));
    return absl::OkStatus();
  }

 private:
  static void Say(std::string text, Decision& decision) {
    decision.outputs.emplace_back(ShowMessage{std::move(text)});
  }

  const int last_epoch_;
  int64_t epochs_ = 0;
};

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

class SessionCallbacksTest : public SessionTest {
 protected:
  SessionCallbacksTest() { options_.job.set_epochs(5); }

  Reporter& ReportUntil(int last_epoch) {
    std::vector<std::unique_ptr<Callback>> callbacks;
    auto reporter = std::make_unique<Reporter>(last_epoch);
    Reporter& made = *reporter;
    callbacks.push_back(std::move(reporter));
    options_.callbacks = std::make_shared<CallbackList>(std::move(callbacks));
    return made;
  }

  void ReportBatches(int64_t last_step, int last_epoch = -1) {
    std::vector<std::unique_ptr<Callback>> callbacks;
    callbacks.push_back(std::make_unique<BatchReporter>(last_step, last_epoch));
    options_.callbacks = std::make_shared<CallbackList>(std::move(callbacks));
  }

  // Goes on with the job until it ends, or a checkpoint is due that is not
  // `answered`. What happened goes to said_.
  void Work(bool answered = true) {
    for (bool works = true; works;) {
      works = WorkUntilIdle(kWorker0) > 0;
      for (const Action& action : session_->TakeActions()) {
        if (const auto* orders = std::get_if<ServeCallbacks>(&action)) {
          for (const CallbackOutput& output : orders->outputs) {
            said_.push_back(std::get<ShowMessage>(output).text);
          }
        } else if (std::holds_alternative<EpochBegan>(action)) {
          said_.emplace_back("title");
        } else if (std::holds_alternative<EpochEnded>(action)) {
          said_.emplace_back("bar");
        } else if (const auto* taken = std::get_if<TakeCheckpoint>(&action)) {
          checkpoint_ = taken->state;
          for (const SaveModel& save : taken->saves) {
            said_.push_back("save " + save.path);
          }
          if (!answered) return;
          session_->SnapshotTaken(absl::OkStatus(), now_);
          session_->CheckpointWritten(absl::OkStatus(), now_);
          works = true;
        }
      }
      EXPECT_EQ(session_->CheckInvariants(), absl::OkStatus());
    }
  }

  void Resume() {
    options_.restore_path = "/out/checkpoint/step-x";
    options_.restore = checkpoint_;
    incarnations_.clear();
    requests_.clear();
    said_.clear();
    Start();
  }

  std::vector<std::string> said_;
  std::shared_ptr<const nlohmann::json> checkpoint_;
};

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
  // Resumed, it has no more to train.
  ReportUntil(-1);
  Resume();
  Work();
  EXPECT_THAT(said_, ElementsAre("done after 3"));
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

TEST_F(SessionCallbacksTest, ACheckpointIsTakenForTheFileOfAModel) {
  // The job itself takes none.
  ReportUntil(2).saved_epoch = 1;
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  EXPECT_EQ(said_.back(), "save a/x.keras");
  EXPECT_EQ(checkpoint_->at("epoch"), 2);
  const auto saved = SavedSessionFromJson(*checkpoint_);
  ASSERT_TRUE(saved.ok()) << saved.status();
  ASSERT_EQ(saved->saves.size(), 1);
  EXPECT_EQ(saved->saves[0].path, "a/x.keras");
  EXPECT_FALSE(saved->saves[0].is_weights_only);
  // Training goes on while the file is written.
  session_->SnapshotTaken(absl::OkStatus(), now_);
  Work();
  EXPECT_EQ(said_.back(), "done after 3");
  EXPECT_EQ(session_->history().size(), 3);
  EXPECT_FALSE(session_->ended());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
}

TEST_F(SessionCallbacksTest, AJobThatIsStoppedAwaitsTheFileOfAModel) {
  ReportUntil(-1).saved_epoch = 0;
  Start();
  Work(/*answered=*/false);
  session_->SnapshotTaken(absl::OkStatus(), now_);
  session_->StopAfterCheckpoint(absl::CancelledError("stopped"), now_);
  EXPECT_FALSE(session_->ended());
  session_->CheckpointWritten(absl::OkStatus(), now_);
  EXPECT_TRUE(session_->ended());
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

TEST_F(SessionCallbacksTest, PathsOfFilesAreChecked) {
  ReportUntil(-1).saved_epoch = 0;
  Start();
  Work(/*answered=*/false);
  ASSERT_TRUE(checkpoint_);
  for (const char* const saves :
       {R"([["../x.keras", false]])", R"([["/x.keras", false]])",
        R"([["result.json", false]])", R"([["a//x.keras", false]])",
        R"([["x.keras"]])", R"([["x.keras", 1]])", R"(["x.keras"])", "{}"}) {
    nlohmann::json bent = *checkpoint_;
    bent["saves"] = nlohmann::json::parse(saves);
    EXPECT_EQ(SavedSessionFromJson(bent).status().code(),
              absl::StatusCode::kDataLoss)
        << saves;
  }
}

TEST_F(SessionCallbacksTest, BatchesComeWithTheProgress) {
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

TEST_F(SessionCallbacksTest, ARateOfABatchHoldsFromTheNextLease) {
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

TEST_F(SessionCallbacksTest, ABatchEndsTrainingWithTheOpenLeases) {
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

// A service takes the tasks away meanwhile.
TEST_F(SessionCallbacksTest, AnEpochThatWasCutShortIsValidatedAfterAResume) {
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
  EXPECT_TRUE(session_->ended());
  ASSERT_EQ(session_->history().size(), 1);
  EXPECT_EQ(session_->history().front().examples,
            static_cast<int64_t>(second->end()));
  EXPECT_FALSE(session_->history().front().validation_logs.empty());
}

// As Keras, which looks after a batch whether training goes on.
TEST_F(SessionCallbacksTest, AnEpochThatBeginsStoppedHasOneStep) {
  ReportBatches(1000, /*last_epoch=*/1);
  Start();
  Work();
  EXPECT_TRUE(session_->ended());
  ASSERT_EQ(session_->history().size(), 2);
  EXPECT_EQ(session_->history().back().steps, 1);
}

TEST_F(SessionCallbacksTest, BatchesGoOnAfterAResume) {
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
