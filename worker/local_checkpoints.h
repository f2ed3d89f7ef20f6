// Checkpoints of the variables that workers hold: one shard, of rank 0.
#ifndef PACELINE_WORKER_LOCAL_CHECKPOINTS_H_
#define PACELINE_WORKER_LOCAL_CHECKPOINTS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/checkpoint/checkpointer.h"
#include "common/model/variable.h"
#include "common/session/member.h"
#include "common/sharding/shard_plan.h"
#include "worker/strategy/local_variables.h"

namespace paceline {

// For the thread that takes leases: no step is under way when one of the
// methods is called. Files are written on a thread of its own.
class LocalCheckpoints {
 public:
  // The references outlive the object. `stream` is of the variables' device.
  LocalCheckpoints(absl::Span<const VariableSpec> variables,
                   const ShardPlan& plan, std::vector<std::string> slot_names,
                   LocalVariables& tensors, Stream& stream, Member& member)
      : variables_(variables),
        plan_(plan),
        slot_names_(std::move(slot_names)),
        tensors_(tensors),
        stream_(stream),
        member_(member) {}

  // Takes variables, slots and the count of updates from the checkpoint `path`.
  // Errors are those of CheckpointReader.
  absl::Status Restore(const std::string& path);

  // Copies all that for the checkpoint `name`. Returns what starts to write the
  // copy, below the folder that the leader named, and tells the leader when
  // that is done or has failed. Errors are the device's.
  absl::StatusOr<std::function<void()>> Take(const std::string& name);

 private:
  const absl::Span<const VariableSpec> variables_;
  const ShardPlan& plan_;
  const std::vector<std::string> slot_names_;
  LocalVariables& tensors_;
  Stream& stream_;
  Member& member_;
  // Last: its thread ends before the rest goes.
  Checkpointer checkpointer_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_LOCAL_CHECKPOINTS_H_
