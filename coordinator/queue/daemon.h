// A daemon, as the queue knows it.
#ifndef PACELINE_COORDINATOR_QUEUE_DAEMON_H_
#define PACELINE_COORDINATOR_QUEUE_DAEMON_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "common/cluster/task.h"
#include "coordinator/queue/demand.h"
#include "coordinator/queue/resources.h"

namespace paceline {

struct Daemon {
  std::string name;
  uint64_t incarnation = 0;
  // See SyncRequest.home.
  uint64_t home = 0;
  // Of its last message; 0: none since the coordinator's start.
  uint64_t sequence = 0;
  absl::Time last_heard;

  TaskType type = TaskType::kWorker;
  std::string version;
  Resources total;
  Labels labels;

  // A person drained it, or it is going to end.
  bool is_drained = false;
  bool is_leaving = false;
  // It was silent for a while. It gets no new tasks, and jobs that will not
  // start again do not wait for the end of those that it has.
  bool is_silent = false;
  // It was silent for too long. Its tasks were given up.
  bool is_lost = false;
  // The ids of jobs of which it holds tasks that were given up while it was
  // silent. They take room that nobody counts.
  std::set<std::string> strays;

  // Tasks that are not over, by the job's number, and what they take together.
  std::set<std::pair<uint64_t, TaskId>> tasks;
  Resources used;
  // Tasks whose job ended before the daemon reported them: the first answer
  // that did not order them any more. A daemon that has followed this answer
  // and does not hold the task will never start it.
  std::map<std::pair<uint64_t, TaskId>, uint64_t> withdrawn;

  Resources Free() const { return total - used; }
};

// Takes over what a daemon is, from its message or its record.
template <typename Message>
void TakeTraits(const Message& message, Daemon& daemon) {
  daemon.incarnation = message.incarnation();
  daemon.home = message.home();
  daemon.type =
      message.type() == v1::TASK_TYPE_PS ? TaskType::kPs : TaskType::kWorker;
  daemon.version = message.version();
  daemon.total = ResourcesFromProto(message.total(), kMaxTasksOfDaemon);
  daemon.labels = Labels(message.labels().begin(), message.labels().end());
}

using DaemonTable = std::map<std::string, Daemon>;

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_DAEMON_H_
