// What holds for a JobFlow after each event.
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/session/machine/job_flow.h"

namespace paceline {

bool JobFlow::PassFitsStage() const {
  switch (stage_) {
    case Stage::kTraining:
      return table_ && table_->phase() == v1::PHASE_TRAIN;
    case Stage::kValidating:
      return table_ && table_->phase() == v1::PHASE_VALIDATION;
    case Stage::kTesting:
      return table_ && table_->phase() == v1::PHASE_TEST;
    case Stage::kCheckpoint:
      return !table_ ||
             (table_->phase() == v1::PHASE_TRAIN && !table_->HasOpenLeases());
    default:
      return !table_;
  }
}

absl::Status JobFlow::CheckInvariants() const {
  if (table_) RETURN_IF_ERROR(table_->CheckInvariants());
  const auto error = [this](const auto&... what) {
    return absl::InternalError(absl::StrCat(what..., ", in stage ",
                                            static_cast<int>(stage_),
                                            " of epoch ", epoch_));
  };
  if (!PassFitsStage()) {
    return error("the pass is of phase ",
                 table_ ? v1::Phase_Name(table_->phase()) : "none");
  }
  if (stage_ == Stage::kTraining &&
      table_->examples_total() != epoch_examples_) {
    return error("the pass has ", table_->examples_total(), " examples, not ",
                 epoch_examples_);
  }
  if (stage_ == Stage::kTraining && StepsToCheckpoint() < 0) {
    return error(-StepsToCheckpoint(), " steps are leased beyond a checkpoint");
  }
  if (stage_ == Stage::kTraining && table_->OpenSteps() > 1) {
    const int64_t to_save =
        callbacks_.StepsToSave(StepsLeased() - steps_before_epoch_);
    if (to_save < 0) {
      return error(-to_save, " steps are leased beyond a file of the model");
    }
  }
  const bool trains = started() && !connects_only_ && !evaluate_only_;
  if (trains && history_.size() != static_cast<size_t>(epoch_ - first_epoch_)) {
    return error("the history has ", history_.size(), " epochs");
  }
  const bool may_await =
      stage_ == Stage::kSwapping ||
      (stage_ == Stage::kRestoring && !checkpoints_.is_writing());
  if (awaits_order_ && !may_await) return error("an order is awaited");
  if (has_averages_ && stage_ != Stage::kSwapping &&
      stage_ != Stage::kValidating) {
    return error("averages are in the place of the variables");
  }
  if (checkpoints_.awaits_snapshot() &&
      !(checkpoints_.is_writing() && stage_ == Stage::kCheckpoint)) {
    return error("a snapshot is taken of no checkpoint");
  }
  if (done() && checkpoints_.is_writing()) {
    return error("a checkpoint is being written");
  }
  return absl::OkStatus();
}

}  // namespace paceline
