#include "common/cluster/task_proto.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/base/peer_count.h"
#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {

absl::StatusOr<TaskId> TaskFromProto(const v1::Task& task) {
  TaskId id;
  ASSIGN_OR_RETURN(const int64_t index, ReadCount("task.index", task.index(),
                                                  limits::kMaxTasks - 1));
  id.index = static_cast<int>(index);
  switch (task.type()) {
    case v1::TASK_TYPE_CHIEF:
      id.type = TaskType::kChief;
      return id;
    case v1::TASK_TYPE_WORKER:
      id.type = TaskType::kWorker;
      return id;
    case v1::TASK_TYPE_PS:
      id.type = TaskType::kPs;
      return id;
    case v1::TASK_TYPE_EVALUATOR:
      id.type = TaskType::kEvaluator;
      return id;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("task.type: ", static_cast<int>(task.type()),
                       "; expected chief, worker, ps or evaluator"));
  }
}

v1::Task TaskToProto(TaskId task) {
  v1::Task proto;
  proto.set_index(task.index);
  switch (task.type) {
    case TaskType::kChief:
      proto.set_type(v1::TASK_TYPE_CHIEF);
      break;
    case TaskType::kWorker:
      proto.set_type(v1::TASK_TYPE_WORKER);
      break;
    case TaskType::kPs:
      proto.set_type(v1::TASK_TYPE_PS);
      break;
    case TaskType::kEvaluator:
      proto.set_type(v1::TASK_TYPE_EVALUATOR);
      break;
  }
  return proto;
}

}  // namespace paceline
