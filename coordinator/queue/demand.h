// What a job needs of daemons before it can start.
#ifndef PACELINE_COORDINATOR_QUEUE_DEMAND_H_
#define PACELINE_COORDINATOR_QUEUE_DEMAND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/cluster/task.h"
#include "coordinator/queue/resources.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

using Labels = std::map<std::string, std::string>;

// Tasks that are alike. Each goes to a daemon of its type that has the labels.
struct GroupDemand {
  TaskType type = TaskType::kWorker;
  int count = 0;
  Resources each;
  Labels labels;
};

struct Demand {
  // At most one group of each type. The leader runs beside task 0 of the first.
  std::vector<GroupDemand> groups;
  // What the leader needs beside that task.
  Resources leader;

  // Of all tasks together.
  Resources Total() const;
  // Of one task, or of the leader.
  const Resources& Of(TaskId task) const;
  // A text that only equal demands have.
  std::string Shape() const;
};

// The leader, as the queue names it in placements.
inline constexpr TaskId kLeaderTask = {TaskType::kChief, 0};

// The submission must have passed CheckSubmission.
Demand DemandOf(const v1::Submission& submission);

// Whether a daemon with labels `has` has all of those that are `wanted`.
bool HasLabels(const Labels& has, const Labels& wanted);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_DEMAND_H_
