// Whoever holds the variables of a job, as its leader asks for checkpoints.
#ifndef PACELINE_COMMON_SESSION_VARIABLE_HOLDERS_H_
#define PACELINE_COMMON_SESSION_VARIABLE_HOLDERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/checkpoint/manifest.h"

namespace paceline {

// Whether nobody knows what became of a call that ended so: the callee may have
// done what it asked for, or may still.
inline bool IsOpenEnded(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status) || absl::IsUnauthenticated(status);
}

// Parameter servers (shard_calls.h), or a worker (worker_checkpoints.h). The
// methods do not wait; `done` comes once, on any thread, within a deadline, and
// must not block.
class VariableHolders {
 public:
  // Gets the logical steps in the copies, by holder; none of holders that tell
  // theirs with their files only.
  using SnapshotDone =
      std::function<void(absl::StatusOr<std::vector<int64_t>>)>;
  // Gets the files by shard. Errors that are IsOpenEnded, with which a holder
  // may still write, come before those of holders that did answer.
  using WriteDone = std::function<void(absl::StatusOr<std::vector<ShardFile>>)>;

  virtual ~VariableHolders() = default;

  // Copies the variables for the checkpoint `name`, whose folder is there.
  virtual void Snapshot(const std::string& name, SnapshotDone done) = 0;
  // Waits until that snapshot is on disk.
  virtual void WriteCheckpoint(const std::string& name, WriteDone done) = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_VARIABLE_HOLDERS_H_
