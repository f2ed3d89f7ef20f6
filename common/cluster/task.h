// A place in the cluster.
#ifndef PACELINE_COMMON_CLUSTER_TASK_H_
#define PACELINE_COMMON_CLUSTER_TASK_H_

#include <compare>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace paceline {

enum class TaskType { kChief, kWorker, kPs, kEvaluator };

// "worker": the name in TF_CONFIG.
inline const char* TaskTypeName(TaskType type) {
  switch (type) {
    case TaskType::kChief:
      return "chief";
    case TaskType::kWorker:
      return "worker";
    case TaskType::kPs:
      return "ps";
    case TaskType::kEvaluator:
      return "evaluator";
  }
  return "unknown";
}

struct TaskId {
  TaskType type = TaskType::kWorker;
  int index = 0;

  // clang-tidy takes the 0 in a defaulted comparison for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const TaskId&) const = default;

  // "worker-1": the name in messages, logs and results.
  std::string ToString() const {
    return absl::StrCat(TaskTypeName(type), "-", index);
  }
};

// "worker-1 at 10.0.0.3:2222"; "worker-1" if `address` is "".
inline std::string TaskName(TaskId task, absl::string_view address) {
  return address.empty() ? task.ToString()
                         : absl::StrCat(task.ToString(), " at ", address);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_TASK_H_
