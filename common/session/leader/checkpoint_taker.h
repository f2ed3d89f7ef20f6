// Takes a checkpoint: snapshots in memory, then the files, then the manifest.
#ifndef PACELINE_COMMON_SESSION_LEADER_CHECKPOINT_TAKER_H_
#define PACELINE_COMMON_SESSION_LEADER_CHECKPOINT_TAKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/mutex.h"
#include "common/callback/callback.h"
#include "common/checkpoint/manifest_content.h"
#include "common/session/leader/lost_checkpoints.h"
#include "common/session/leader/model_saver.h"
#include "common/session/leader/shared_session.h"
#include "common/session/leader/variable_holders.h"
#include "common/session/machine/session.h"
#include "common/session/machine/shard_steps.h"

namespace paceline {

// Checks the files of the checkpoint of `step`, where `step` is the leader's
// count. `expected` are the bounds of each shard's count, `copied` the counts
// in the shards' copies; either may be empty, which means unknown. DataLoss
// names the first shard whose count or file name is wrong, with both counts.
absl::Status CheckShardFiles(int64_t step, absl::Span<const ShardFile> files,
                             absl::Span<const StepBounds> expected,
                             absl::Span<const int64_t> copied);

// One checkpoint at a time, when the session orders it:
//
//   Take ──> Snapshot on all holders ──> SnapshotTaken (training goes on)
//        ──> WriteCheckpoint on all ──> Poll: compares the counts of steps,
//            writes the manifest, deletes old checkpoints
//        ──> what callbacks ask to be made of it
//        ──> CheckpointWritten
//
// A "holder" is a task that holds variables. If a checkpoint fails, its folder
// is deleted at once, unless a holder may still write into it. Then the folder
// is deleted together with old checkpoints later.
//
// Not thread-safe: used by the leader's thread. The holders' answers may arrive
// on any thread and are handed over under a lock.
class CheckpointTaker {
 public:
  // Checkpoints are written below `directory`; the last `keep` stay. `manifest`
  // has the fields that are equal in all checkpoints of the job, and the one
  // that is kept, which stays until a later one is. `session`,
  // `holders` and `saver` must outlive the taker.
  CheckpointTaker(std::string directory, int keep, Manifest manifest,
                  SharedSession& session, VariableHolders& holders,
                  ModelSaver& saver);

  void Take(const TakeCheckpoint& action);

  // Completes a checkpoint whose files are on disk. The saver writes its files
  // before the next one is taken, which may delete the folder. Call it often.
  void Poll();

  // The name of the checkpoint that is kept; "": none.
  const std::string& kept() const { return manifest_.kept; }

  // The checkpoints that were begun but not written.
  const LostCheckpoints& lost() const { return lost_; }

 private:
  void Write();
  absl::Status Complete(std::vector<ShardFile> files);
  // The checkpoint failed, and so the files that were to be made of it.
  void Lose(const absl::Status& error);
  void Report(const absl::Status& status);

  const std::string directory_;
  const int keep_;
  SharedSession& session_;
  VariableHolders& holders_;
  ModelSaver& saver_;
  // The manifest of the checkpoint that is being taken.
  Manifest manifest_;
  std::string folder_;
  std::vector<CheckpointOutput> saves_;
  LostCheckpoints lost_;
  std::vector<StepBounds> shard_steps_;

  using Files = absl::StatusOr<std::vector<ShardFile>>;
  Mutex mutex_;
  std::unique_ptr<Files> files_ ABSL_GUARDED_BY(mutex_);
  // The steps in the copies, by shard. Empty if the holders report their steps
  // only together with their files.
  std::vector<int64_t> copied_steps_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_CHECKPOINT_TAKER_H_
