// Records which tasks really run: the truth with which the books of the job
// queue are compared.
#ifndef PACELINE_TESTS_SIMULATION_TASK_LEDGER_H_
#define PACELINE_TESTS_SIMULATION_TASK_LEDGER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/cluster/task.h"
#include "coordinator/queue/resources.h"

namespace paceline {

// A task of one start of a job.
struct RunningTask {
  std::string job;
  uint32_t generation = 0;
  TaskId task;

  auto operator<=>(const RunningTask&) const = default;
};

class TaskLedger {
 public:
  // A daemon that the coordinator has not heard of for `daemon_timeout` may
  // have tasks which the coordinator has given up.
  explicit TaskLedger(absl::Duration daemon_timeout)
      : daemon_timeout_(daemon_timeout) {}

  // Events: a process of a task began or ended; the coordinator heard of a
  // daemon, and stored that a job has succeeded.
  void Started(const RunningTask& task, const std::string& daemon,
               const Resources& need, const Resources& total, absl::Time now);
  void Ended(const RunningTask& task, const std::string& daemon);
  void Heard(const std::string& daemon, absl::Time now);
  void Succeeded(const std::string& job) { succeeded_.insert(job); }

  // Tasks of this start that run now.
  int CountRunning(const std::string& job, uint32_t generation) const;
  int start_count() const { return start_count_; }
  void Violation(std::string what) { violations_.push_back(std::move(what)); }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  // No other task of the job runs where the coordinator could know it.
  void CheckLeader(const RunningTask& leader, const std::string& daemon,
                   absl::Time now);

  const absl::Duration daemon_timeout_;
  // The daemon of each task that runs, and what the task takes.
  std::map<RunningTask, std::pair<std::string, Resources>> running_;
  // What the tasks of a daemon take that the coordinator has not given up.
  std::map<std::string, Resources> used_;
  std::map<std::string, absl::Time> heard_;
  // When a daemon was heard again that had been silent for too long.
  std::map<std::string, absl::Time> back_since_;
  std::set<std::string> succeeded_;
  int start_count_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_TASK_LEDGER_H_
