#include "coordinator/queue/demand.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace paceline {
namespace {

std::string ShapeOf(const Resources& resources) {
  return absl::StrCat(resources.millicores, ",", resources.memory_bytes, ",",
                      resources.gpus, ";");
}

}  // namespace

Resources Demand::Total() const {
  Resources total = leader;
  for (const GroupDemand& group : groups) total += group.count * group.each;
  return total;
}

const Resources& Demand::Of(TaskId task) const {
  if (task == kLeaderTask) return leader;
  for (const GroupDemand& group : groups) {
    if (group.type == task.type) return group.each;
  }
  LOG(FATAL) << task.ToString() << " is no task of the job";
}

std::string Demand::Shape() const {
  std::string shape = ShapeOf(leader);
  for (const GroupDemand& group : groups) {
    absl::StrAppend(&shape, TaskTypeName(group.type), group.count, ":",
                    ShapeOf(group.each));
    for (const auto& [key, value] : group.labels) {
      absl::StrAppend(&shape, absl::CEscape(key), "\"", absl::CEscape(value),
                      "\"");
    }
  }
  return shape;
}

Demand DemandOf(const v1::Submission& submission) {
  Demand demand;
  demand.leader = ResourcesFromProto(submission.leader(), 1);
  for (const v1::TaskGroup& group : submission.groups()) {
    demand.groups.push_back(
        {group.type() == v1::TASK_TYPE_PS ? TaskType::kPs : TaskType::kWorker,
         static_cast<int>(group.count()), ResourcesFromProto(group.each(), 1),
         Labels(group.labels().begin(), group.labels().end())});
  }
  // The leader is lost with ps-0 at the latest.
  std::stable_sort(demand.groups.begin(), demand.groups.end(),
                   [](const GroupDemand& a, const GroupDemand& b) {
                     return a.type == TaskType::kPs && b.type != TaskType::kPs;
                   });
  return demand;
}

bool HasLabels(const Labels& has, const Labels& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const auto found = has.find(label.first);
    return found != has.end() && found->second == label.second;
  });
}

}  // namespace paceline
