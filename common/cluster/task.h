// A place in the cluster.
#ifndef PACELINE_COMMON_CLUSTER_TASK_H_
#define PACELINE_COMMON_CLUSTER_TASK_H_

#include <compare>
#include <string>

#include "absl/strings/str_cat.h"

namespace paceline {

enum class TaskType { kChief, kWorker, kPs, kEvaluator };

// "worker", as TF_CONFIG writes it.
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

  // The check takes the 0 of a defaulted comparison for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const TaskId&) const = default;

  // "worker-1", the name used in messages, logs and results.
  std::string ToString() const {
    return absl::StrCat(TaskTypeName(type), "-", index);
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CLUSTER_TASK_H_
