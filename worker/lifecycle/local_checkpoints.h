// Checkpoints of variables that workers hold: a single shard, written by rank
// 0.
#ifndef PACELINE_WORKER_LIFECYCLE_LOCAL_CHECKPOINTS_H_
#define PACELINE_WORKER_LIFECYCLE_LOCAL_CHECKPOINTS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/checkpoint/checkpointer.h"
#include "common/model/variable.h"
#include "common/session/member/member.h"
#include "common/sharding/shard_plan.h"
#include "worker/strategy/local_variables.h"

namespace paceline {

// Call the methods on the thread that takes leases, while no step is under way.
// A separate thread writes the files.
class LocalCheckpoints {
 public:
  // All references must outlive the object. `stream` belongs to the device of
  // the variables.
  LocalCheckpoints(absl::Span<const VariableSpec> variables,
                   const ShardPlan& plan, std::vector<std::string> slot_names,
                   LocalVariables& tensors, Stream& stream, Member& member)
      : variables_(variables),
        plan_(plan),
        slot_names_(std::move(slot_names)),
        tensors_(tensors),
        stream_(stream),
        member_(member) {}

  // Restores variables, slots and the number of updates from the checkpoint
  // `path`. Errors are those of CheckpointReader.
  absl::Status Restore(const std::string& path);
  // Restores the variables alone, from a checkpoint of any optimizer.
  absl::Status RestoreVariables(const std::string& path);

  // Copies variables, slots and the number of updates for the checkpoint
  // `name`. Returns a function that starts to write the copy below the folder
  // that the leader named, and that reports the outcome to the leader. Errors
  // are those of the device.
  absl::StatusOr<std::function<void()>> Take(const std::string& name);

 private:
  const absl::Span<const VariableSpec> variables_;
  const ShardPlan& plan_;
  const std::vector<std::string> slot_names_;
  LocalVariables& tensors_;
  Stream& stream_;
  Member& member_;
  // Declared last, so that its thread ends before the other members are
  // destroyed.
  Checkpointer checkpointer_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_LIFECYCLE_LOCAL_CHECKPOINTS_H_
