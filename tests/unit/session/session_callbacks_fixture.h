// A session whose job has a callback, and what such a job was seen to do.
#ifndef PACELINE_TESTS_UNIT_SESSION_SESSION_CALLBACKS_FIXTURE_H_
#define PACELINE_TESTS_UNIT_SESSION_SESSION_CALLBACKS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/callback/callback.h"
#include "common/callback/callback_list.h"
#include "common/checkpoint/object_reader.h"
#include "nlohmann/json.hpp"
#include "tests/unit/session/session_fixture.h"

namespace paceline {

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
    if (end.epoch == saved_epoch) decision.saves = saves;
    if (end.epoch == failing_epoch) {
      decision.failure = absl::InvalidArgumentError("it fails");
    }
  }
  void TrainingEnded(Decision& decision) override {
    Say(absl::StrCat("done after ", epochs_), decision);
  }
  nlohmann::json Save() const override { return {{"epochs", epochs_}}; }

  // Of this epoch's checkpoint this is made; -1: there is none.
  int saved_epoch = -1;
  std::vector<CheckpointOutput> saves = {SaveModel{"a/x.keras"}};
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

class SessionCallbacksTest : public SessionTest {
 protected:
  SessionCallbacksTest() { options_.job.set_epochs(5); }

  // The job's only callback from its next start on.
  void Use(std::unique_ptr<Callback> callback) {
    std::vector<std::unique_ptr<Callback>> callbacks;
    callbacks.push_back(std::move(callback));
    options_.callbacks = std::make_shared<CallbackList>(std::move(callbacks));
  }
  Reporter& ReportUntil(int last_epoch) {
    auto reporter = std::make_unique<Reporter>(last_epoch);
    Reporter& made = *reporter;
    Use(std::move(reporter));
    return made;
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
        } else if (const auto* notice = std::get_if<Notice>(&action)) {
          noted_.push_back(notice->message);
        } else if (std::holds_alternative<EpochBegan>(action)) {
          said_.emplace_back("title");
        } else if (std::holds_alternative<EpochEnded>(action)) {
          said_.emplace_back("bar");
        } else if (const auto* taken = std::get_if<TakeCheckpoint>(&action)) {
          checkpoint_ = taken->state;
          for (const CheckpointOutput& save : taken->saves) {
            const auto* const model = std::get_if<SaveModel>(&save);
            said_.push_back("save " +
                            (model != nullptr ? model->path : "weights"));
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
  std::vector<std::string> noted_;
  std::shared_ptr<const nlohmann::json> checkpoint_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_SESSION_SESSION_CALLBACKS_FIXTURE_H_
