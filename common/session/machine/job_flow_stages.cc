// How a JobFlow moves from one stage to the next.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/session/machine/job_flow.h"
#include "common/session/machine/loss_watch.h"

namespace paceline {

void JobFlow::Advance(absl::Time now) {
  Stage before;
  do {
    before = stage_;
    switch (stage_) {
      case Stage::kTraining:
        AdvanceTraining(now);
        break;
      case Stage::kCheckpoint:
        AdvanceCheckpoint(now);
        break;
      case Stage::kSwapping:
        AdvanceSwapping();
        break;
      case Stage::kValidating:
      case Stage::kTesting:
        AdvanceEvaluation(now);
        break;
      case Stage::kEpochEnded:
        if (!callbacks_.AwaitsAnswers()) LeaveEpoch(now);
        break;
      case Stage::kRestoring:
        AdvanceRestoring();
        break;
      case Stage::kFinishing:
        if (!checkpoints_.is_writing() && !callbacks_.AwaitsAnswers()) {
          stage_ = Stage::kDone;
        }
        break;
      case Stage::kWaiting:
      case Stage::kConnecting:
      case Stage::kDone:
        break;
    }
  } while (stage_ != before);
}

void JobFlow::AdvanceTraining(absl::Time now) {
  // An epoch whose validation would not end is saved before it, and so are the
  // files of its last batch: the job may be stopped in the validation.
  const bool is_saved_first =
      ValidatesNext() &&
      (EarlyCheckpointDue() || callbacks_.awaits_checkpoint());
  if ((table_->Done() || IsCutShort()) && !is_saved_first) {
    EndTraining(now);
  } else if (!table_->HasOpenLeases() &&
             (StepsToCheckpoint() <= 0 || EarlyCheckpointDue() ||
              callbacks_.awaits_checkpoint()) &&
             // A checkpoint does not have what a program has not answered.
             !callbacks_.HoldsLeases()) {
    stage_ = Stage::kCheckpoint;
  }
}

void JobFlow::AdvanceCheckpoint(absl::Time now) {
  if (checkpoints_.is_writing()) return;
  const bool training_ended = !table_ && AllEpochsDone();
  has_kept_ |= training_ended && callbacks_.keeps_model();
  SavedSession saved = Save(now);
  saved.is_final = training_ended && !LoadsKept();
  const bool is_kept = callbacks_.TakeKeepsModel();
  checkpoints_.Take(saved, callbacks_.TakeSaves(), is_kept, actions_);
}

void JobFlow::AdvanceSwapping() {
  // Averages that have been validated go back, so that the epoch can be saved.
  if (awaits_order_ || (ends_early_ && !has_averages_)) return;
  OrderChange(v1::VariablesOrder::KIND_SWAP_AVERAGES);
}

void JobFlow::AveragesSwapped(absl::Time now) {
  has_averages_ = !has_averages_;
  if (has_averages_) {
    BeginValidation();
  } else {
    EndEpoch(now);
  }
}

void JobFlow::AdvanceRestoring() {
  // The checkpoint under way may be the one to load.
  if (awaits_order_ || checkpoints_.is_writing()) return;
  OrderChange(v1::VariablesOrder::KIND_LOAD);
}

void JobFlow::OrderChange(v1::VariablesOrder::Kind kind) {
  awaits_order_ = true;
  v1::VariablesOrder order;
  order.set_number(++order_count_);
  order.set_kind(kind);
  actions_.emplace_back(ChangeVariables{std::move(order)});
}

void JobFlow::AdvanceEvaluation(absl::Time now) {
  if (!table_->Done()) return;
  const PassTotals totals = table_->Totals();
  Logs logs = ValuesOf(totals, metrics_);
  NoteEvaluation(logs);
  next_lease_id_ = table_->next_lease_id();
  table_.reset();
  if (stage_ == Stage::kTesting) {
    actions_.push_back(TestEnded{totals.steps, std::move(logs)});
    NoteSkipped("data.test", totals.skipped_examples, sizes_.test);
    stage_ = Stage::kFinishing;
    return;
  }
  callbacks_.ValidationEnded(epoch_, logs, actions_);
  for (auto& [name, value] : logs) {
    record_.validation_logs.emplace_back(absl::StrCat("val_", name), value);
  }
  record_.skipped_validation_examples = totals.skipped_examples;
  if (has_averages_) {
    stage_ = Stage::kSwapping;
  } else {
    EndEpoch(now);
  }
}

void JobFlow::BeginEpoch(const SavedSession& from, absl::Time now) {
  stage_ = Stage::kTraining;
  epoch_began_ = now - absl::Seconds(from.seconds);
  table_.emplace(PassOptions(v1::PHASE_TRAIN), from.remaining, from.counted);
  const bool was_told = std::exchange(told_of_epoch_, false);
  if (from.counted.examples == 0 && !was_told) {
    callbacks_.EpochBegan(epoch_, from.steps, now, actions_);
  } else {
    callbacks_.GoesOn(epoch_, from.counted.steps, now);
  }
  actions_.push_back(EpochBegan{epoch_, from.counted.steps});
}

void JobFlow::BeginEvaluation(v1::Phase phase, int64_t examples) {
  stage_ = phase == v1::PHASE_TEST ? Stage::kTesting : Stage::kValidating;
  const ExampleRange all = {0, examples};
  table_.emplace(PassOptions(phase), absl::MakeConstSpan(&all, 1),
                 PassTotals());
  if (phase == v1::PHASE_TEST) actions_.push_back(TestBegan{});
}

void JobFlow::EndTraining(absl::Time now) {
  const PassTotals totals = table_->Totals();
  steps_before_epoch_ += totals.steps;
  record_ = EpochRecord();
  record_.epoch = epoch_;
  record_.logs = ValuesOf(totals, metrics_);
  record_.learning_rate = callbacks_.RateAfter(steps_before_epoch_);
  record_.steps = totals.steps;
  record_.examples = totals.examples;
  record_.skipped_examples = totals.skipped_examples;
  record_.seconds = absl::ToDoubleSeconds(now - epoch_began_);
  next_lease_id_ = table_->next_lease_id();
  table_.reset();
  if (!ValidatesNext()) return EndEpoch(now);
  callbacks_.ValidationBegan(epoch_, actions_);
  if (callbacks_.swaps_averages()) {
    stage_ = Stage::kSwapping;
  } else {
    BeginValidation();
  }
}

void JobFlow::BeginValidation() {
  BeginEvaluation(v1::PHASE_VALIDATION, sizes_.validation);
}

void JobFlow::EndEpoch(absl::Time now) {
  history_.push_back(record_);
  callbacks_.EpochEnded(record_, now - epoch_began_, steps_before_epoch_,
                        actions_);
  ++epoch_;
  stage_ = Stage::kEpochEnded;
}

void JobFlow::LeaveEpoch(absl::Time now) {
  actions_.push_back(EpochEnded{record_});
  const std::string name = absl::StrCat("epoch ", record_.epoch + 1);
  NoteSkipped(name, record_.skipped_examples, record_.examples);
  NoteSkipped(absl::StrCat(name, ", validation"),
              record_.skipped_validation_examples, sizes_.validation);
  // The last checkpoint follows when the variables that were kept are loaded;
  // files of models have those of this epoch.
  const bool loads_first = AllEpochsDone() && callbacks_.RestoresKept() &&
                           !callbacks_.awaits_checkpoint();
  if (!loads_first && CheckpointDueAfterEpoch()) {
    stage_ = Stage::kCheckpoint;
  } else {
    BeginNext(now);
  }
}

void JobFlow::BeginNext(absl::Time now) {
  if (!AllEpochsDone()) {
    BeginEpoch(StartOfEpoch(), now);
    return;
  }
  if (LoadsKept()) {
    stage_ = Stage::kRestoring;
    return;
  }
  callbacks_.TrainingEnded(actions_);
  if (sizes_.test > 0) {
    BeginEvaluation(v1::PHASE_TEST, sizes_.test);
  } else {
    stage_ = Stage::kFinishing;
  }
}

LeaseTable::Options JobFlow::PassOptions(v1::Phase phase) const {
  LeaseTable::Options options;
  options.phase = phase;
  options.epoch = epoch_;
  const bool training = phase == v1::PHASE_TRAIN;
  options.batch_size = training ? step_batch_size_ : worker_batch_size_;
  options.batches_at_once = training ? steps_per_execution_ : 1;
  options.workers_per_lease = training ? workers_per_lease_ : 1;
  options.finds_common_steps = training && callbacks_.hears_batches();
  options.state_size = StateSize(metrics_);
  options.reported_size = ReportedSize(metrics_);
  options.first_lease_id = next_lease_id_;
  return options;
}

void JobFlow::NoteStopped() {
  if (!callbacks_.stopped() || epoch_ >= epochs_) return;
  const bool is_amid_epoch = restored_->counted.examples > 0;
  actions_.push_back(Notice{absl::StrCat(
      "nothing is left to train: ",
      callbacks_.stopped_by().empty() ? "a callback" : callbacks_.stopped_by(),
      " has ended training ", is_amid_epoch ? "in" : "after", " epoch ",
      is_amid_epoch ? epoch_ + 1 : epoch_, " of ", epochs_,
      ", and the checkpoint says so; without --resume the job trains anew")});
}

void JobFlow::NoteEvaluation(const Logs& logs) {
  if (logs.empty() || std::isfinite(logs.front().second) ||
      std::exchange(has_told_of_evaluation_, true)) {
    return;
  }
  actions_.push_back(Notice{absl::StrCat(
      "the loss of data.",
      stage_ == Stage::kTesting
          ? "test"
          : absl::StrCat("validation in epoch ", epoch_ + 1),
      " is not finite (", NonfiniteName(logs.front().second), ")")});
}

void JobFlow::NoteSkipped(absl::string_view pass, int64_t skipped,
                          int64_t examples) {
  if (skipped == 0) return;
  actions_.push_back(Notice{absl::StrCat(pass, ": ", skipped, " of ", examples,
                                         " examples left out "
                                         "(on_error: skip)")});
}

}  // namespace paceline
