// Converts tasks between messages and TaskId.
#ifndef PACELINE_COMMON_CLUSTER_TASK_PROTO_H_
#define PACELINE_COMMON_CLUSTER_TASK_PROTO_H_

#include "absl/status/statusor.h"
#include "common/cluster/task.h"
#include "paceline/v1/coordinator.pb.h"

namespace paceline {

// The index must be below limits::kMaxTasks. InvalidArgument names the field,
// its value and what is expected.
absl::StatusOr<TaskId> TaskFromProto(const v1::Task& task);
v1::Task TaskToProto(TaskId task);

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_TASK_PROTO_H_
