// What tasks may use of a machine, enforced.
#ifndef PACELINE_COMMON_DAEMON_TASK_LIMITS_H_
#define PACELINE_COMMON_DAEMON_TASK_LIMITS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/daemon/control_group.h"
#include "common/process/child.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

class TaskLimits;

// The limit of one task, from before its process starts until after that has
// ended. The destructor kills what the process has left, if a control group
// limits it. Not thread-safe.
class TaskLimit {
 public:
  TaskLimit(const TaskLimit&) = delete;
  TaskLimit& operator=(const TaskLimit&) = delete;
  ~TaskLimit();

  const ChildLimits& child() const { return child_; }
  // Why the limit has ended the task, see ControlGroup; "" if it has not, or
  // nobody knows: a task that gets no memory tells that itself, in its log.
  std::string WhyEnded() const;

 private:
  friend class TaskLimits;
  explicit TaskLimit(TaskLimits& limits) : limits_(limits) {}

  TaskLimits& limits_;
  ChildLimits child_;
  std::unique_ptr<ControlGroup> group_;
  // What it takes of each of child_.cores.
  int64_t millicores_of_each_ = 0;
};

// The limits of a daemon's tasks, by control groups (version 2) where this
// process may make them. Elsewhere a task runs on as many whole processors as
// its cores need, those that have the least other tasks, and may have so much
// data (ChildLimits::data_bytes). Must outlive its limits. Not thread-safe.
class TaskLimits {
 public:
  // `root`: as for MachineResources. `cores`: the processors for tasks; of
  // those with equally many tasks the first ones are taken. None: a task runs
  // on any.
  TaskLimits(const std::string& root, const std::vector<int>& cores);
  TaskLimits(const TaskLimits&) = delete;
  TaskLimits& operator=(const TaskLimits&) = delete;

  // A leader that is given less than a core may use a whole one: it sleeps but
  // for its start and checkpoints. A group that cannot be made is an error.
  absl::StatusOr<std::unique_ptr<TaskLimit>> Add(const v1::Resources& limits,
                                                 bool is_leader);

  // How, for people: "by control groups below /sys/fs/cgroup".
  const std::string& means() const { return means_; }

 private:
  friend class TaskLimit;
  std::vector<int> LeastTaken(uint64_t count) const;
  // Gives so much of each back if it is negative.
  void Take(const std::vector<int>& cores, int64_t millicores);

  struct Core {
    int number;
    // Thousandths of it that tasks have.
    int64_t taken;
  };

  std::unique_ptr<ControlGroupParent> groups_;
  std::string means_;
  std::vector<Core> cores_;
};

// The processors of this process, by the kernel's numbers; none if it has more
// than a cpu_set_t can say.
std::vector<int> OwnCores();

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_TASK_LIMITS_H_
