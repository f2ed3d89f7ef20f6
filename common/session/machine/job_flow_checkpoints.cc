// Where a JobFlow has to stop for a checkpoint or the end of the job, and what
// a checkpoint saves.
#include <algorithm>
#include <cstdint>

#include "common/session/machine/job_flow.h"

namespace paceline {

void JobFlow::EndEarly(absl::Time now) {
  ends_early_ = true;
  Advance(now);
}

bool JobFlow::has_ended_early() const {
  if (!ends_early_) return false;
  switch (stage_) {
    case Stage::kTraining:
      return !checkpoints_.is_writing() && !EarlyCheckpointDue() &&
             (!checkpoints_.has_policy() || !table_->HasOpenLeases());
    case Stage::kCheckpoint:
    case Stage::kFinishing:
    case Stage::kDone:
      return false;
    case Stage::kSwapping:
      return !has_averages_ && !checkpoints_.is_writing();
    case Stage::kEpochEnded:
      return !checkpoints_.has_policy() && !callbacks_.awaits_checkpoint();
    case Stage::kRestoring:
      // The last checkpoint follows.
      return !checkpoints_.has_policy() && !checkpoints_.is_writing();
    default:
      return !checkpoints_.is_writing();
  }
}

bool JobFlow::EarlyCheckpointDue() const {
  return ends_early_ && (checkpoints_.IsBehind(StepsLeased()) ||
                         callbacks_.awaits_checkpoint());
}

SavedSession JobFlow::Save(absl::Time now) const {
  SavedSession saved = StartOfEpoch();
  callbacks_.Save(saved);
  if (!table_) return saved;
  saved.begun = true;
  saved.remaining = table_->Remaining();
  saved.counted = table_->Totals();
  saved.steps += saved.counted.steps;
  saved.next_lease_id = table_->next_lease_id();
  saved.seconds = absl::ToDoubleSeconds(now - epoch_began_);
  return saved;
}

SavedSession JobFlow::StartOfEpoch() const {
  SavedSession saved;
  saved.first_epoch = first_epoch_;
  saved.epoch = epoch_;
  saved.steps = steps_before_epoch_;
  saved.next_lease_id = next_lease_id_;
  saved.epoch_examples = epoch_examples_;
  saved.order_replicas = order_replicas_;
  saved.shuffle = shuffle_;
  saved.round_examples = sizes_.train;
  saved.remaining = {{0, epoch_examples_}};
  saved.counted.states.resize(StateSize(metrics_));
  saved.has_kept = has_kept_;
  saved.history = history_;
  return saved;
}

bool JobFlow::CheckpointDueAfterEpoch() const {
  if (callbacks_.awaits_checkpoint()) return true;
  if (AllEpochsDone() || ends_early_) return checkpoints_.has_policy();
  return callbacks_.keeps_model() ||
         checkpoints_.IsDueAfter(epoch_, StepsLeased());
}

int64_t JobFlow::StepsToCheckpoint() const {
  return checkpoints_.StepsToNext(StepsLeased());
}

int64_t JobFlow::StepsToSave() const {
  const int64_t steps =
      callbacks_.StepsToSave(StepsLeased() - steps_before_epoch_);
  // Nothing is told of steps whose values are lost with their worker.
  return table_->HasOpenLeases() ? steps : std::max<int64_t>(steps, 1);
}

int64_t JobFlow::StepsToLease() const {
  // The file is of the model after the steps that were leased so far.
  if (callbacks_.awaits_checkpoint()) return 0;
  const int64_t most = std::min(StepsToCheckpoint(), StepsToSave());
  if (!callbacks_.stopped()) return most;
  // As Keras, which sees the stop after a batch. So an epoch has values.
  const int64_t least = StepsLeased() == steps_before_epoch_ ? 1 : 0;
  return std::min(most, least);
}

bool JobFlow::IsCutShort() const {
  return callbacks_.stopped() && !table_->HasOpenLeases() &&
         table_->Totals().steps > 0;
}

}  // namespace paceline
