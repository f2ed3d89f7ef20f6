// The interface by which the leader takes checkpoints from the tasks that hold
// the variables.
#ifndef PACELINE_COMMON_SESSION_LEADER_VARIABLE_HOLDERS_H_
#define PACELINE_COMMON_SESSION_LEADER_VARIABLE_HOLDERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/checkpoint/manifest_content.h"

namespace paceline {

// Whether an error leaves open what the callee did: it may have carried out the
// call, or may still do so.
inline bool IsOpenEnded(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status) || absl::IsUnauthenticated(status);
}

// Implemented for parameter servers (shard_calls.h) and for a worker
// (worker_checkpoints.h). The methods do not block. `done` is called once, on
// any thread, before a deadline; it must not block.
class VariableHolders {
 public:
  // Gets the logical step of each copy, by holder. Empty if the holders report
  // their steps only together with their files.
  using SnapshotDone =
      std::function<void(absl::StatusOr<std::vector<int64_t>>)>;
  // Gets the files by shard. If several holders fail, an error that IsOpenEnded
  // comes before others, since such a holder may still write.
  using WriteDone = std::function<void(absl::StatusOr<std::vector<ShardFile>>)>;

  virtual ~VariableHolders() = default;

  // Copies the variables for the checkpoint `name`; its folder exists.
  virtual void Snapshot(const std::string& name, SnapshotDone done) = 0;
  // Calls `done` once that snapshot is on disk, in the leader's `folder` of the
  // checkpoint; its last component is the checkpoint's name. `is_kept`: the
  // holders may have to load it later, and no other that was kept before.
  virtual void WriteCheckpoint(const std::string& folder, bool is_kept,
                               WriteDone done) = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_VARIABLE_HOLDERS_H_
