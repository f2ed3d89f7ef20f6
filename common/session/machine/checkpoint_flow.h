// When a job is to take checkpoints, and how far the one under way is.
#ifndef PACELINE_COMMON_SESSION_MACHINE_CHECKPOINT_FLOW_H_
#define PACELINE_COMMON_SESSION_MACHINE_CHECKPOINT_FLOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/callback/callback.h"
#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"

namespace paceline {

// JobFlow asks it where checkpoints are due, and tells it what becomes of them.
// Not thread-safe. A state machine without I/O.
class CheckpointFlow {
 public:
  CheckpointFlow() = default;
  // `has_one`: whether there is a checkpoint from which the job could go on if
  // it takes none, that of the phase before.
  CheckpointFlow(const v1::Job& job, bool has_one);

  // Whether the job itself takes checkpoints, not only its callbacks.
  bool has_policy() const { return has_policy_; }
  // Steps that may follow the first `steps` of the job before a checkpoint is
  // due by its `every_steps`.
  int64_t StepsToNext(int64_t steps) const;
  // Whether a checkpoint is due after so many epochs and steps of the job.
  bool IsDueAfter(int epochs, int64_t steps) const;
  // Whether a job that has a policy, and has trained `steps` so far, was last
  // saved with fewer (or started with fewer, if it was not saved yet).
  bool IsBehind(int64_t steps) const;
  // The job resumes from a checkpoint with so many steps.
  void GoOnFrom(int64_t steps) {
    saved_steps_ = steps;
    has_one_ = true;
  }

  // Orders the checkpoint of `saved`; none is under way. `is_kept`: see
  // TakeCheckpoint.
  void Take(const SavedSession& saved, std::vector<CheckpointOutput> saves,
            bool is_kept, std::vector<Action>& actions);
  // Returns whether a snapshot was awaited.
  bool SnapshotTaken();
  // Returns an error, which says what to do, if this was the final checkpoint
  // of the job, or is kept. Another one is a Notice, if it fails for another
  // reason (by its code) than the one before it.
  absl::Status Written(const absl::Status& status,
                       std::vector<Action>& actions);
  bool awaits_snapshot() const { return awaits_snapshot_; }
  bool is_writing() const { return is_writing_; }

 private:
  bool has_policy_ = false;
  // 0: no checkpoint is due by epochs, or by steps.
  int64_t every_epochs_ = 0;
  int64_t every_steps_ = 0;
  // The step count of the last checkpoint.
  int64_t saved_steps_ = 0;
  // Whether there is a checkpoint to resume from. How many were not written,
  // and the code of the last one's error; kOk: it was written.
  bool has_one_ = false;
  int64_t lost_ = 0;
  absl::StatusCode last_code_ = absl::StatusCode::kOk;
  bool awaits_snapshot_ = false;
  bool is_writing_ = false;
  bool writes_final_ = false;
  bool writes_kept_ = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_CHECKPOINT_FLOW_H_
