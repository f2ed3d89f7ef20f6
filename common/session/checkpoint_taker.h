// Carries out the taking of a checkpoint: snapshots, files, manifest.
#ifndef PACELINE_COMMON_SESSION_CHECKPOINT_TAKER_H_
#define PACELINE_COMMON_SESSION_CHECKPOINT_TAKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/checkpoint/manifest.h"
#include "common/session/lost_checkpoints.h"
#include "common/session/session.h"
#include "common/session/shard_steps.h"
#include "common/session/shared_session.h"
#include "common/session/variable_holders.h"

namespace paceline {

// Compares the files of a checkpoint that the leader calls that of `step` with
// what the shards were to count, and had in their copies; either may be empty:
// not known. DataLoss names the first shard that differs, with both counts, or
// whose file has another name than a shard's.
absl::Status CheckShardFiles(int64_t step, absl::Span<const ShardFile> files,
                             absl::Span<const StepBounds> expected,
                             absl::Span<const int64_t> copied);

// One checkpoint at a time, as the session asks for them:
//
//   Take ──> Snapshot by all holders ──> SnapshotTaken (training goes on)
//        ──> WriteCheckpoint by all ──> Poll: counts of steps compared,
//        manifest,
//            old ones deleted
//        ──> CheckpointWritten
//
// The folder of one that fails is deleted, unless a holder may still write into
// it: then it goes as old ones do.
//
// Not thread-safe: for the leader's thread. Answers of the holders may come on
// any thread and are handed over.
class CheckpointTaker {
 public:
  // `directory` holds the checkpoints, of which `keep` stay. `manifest` has all
  // that does not change from one to the next. `session` and `holders`
  // outlive the taker.
  CheckpointTaker(std::string directory, int keep, Manifest manifest,
                  SharedSession& session, VariableHolders& holders);

  void Take(const TakeCheckpoint& action);

  // Completes a checkpoint whose files are on disk. To be called often.
  void Poll();

  // Those that were begun, and not written.
  const LostCheckpoints& lost() const { return lost_; }

 private:
  void Write(const std::string& name);
  absl::Status Complete(std::vector<ShardFile> files);
  void Report(const absl::Status& status);

  const std::string directory_;
  const int keep_;
  SharedSession& session_;
  VariableHolders& holders_;
  // Of the checkpoint that is being taken.
  Manifest manifest_;
  std::string folder_;
  LostCheckpoints lost_;
  std::vector<StepBounds> shard_steps_;

  using Files = absl::StatusOr<std::vector<ShardFile>>;
  Mutex mutex_;
  std::unique_ptr<Files> files_ ABSL_GUARDED_BY(mutex_);
  // In the copies, by shard; empty where they are told with the files only.
  std::vector<int64_t> copied_steps_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_CHECKPOINT_TAKER_H_
