// A job from its leader's options to its files and an exit code.
#ifndef PACELINE_COMMON_SESSION_LEAD_JOB_H_
#define PACELINE_COMMON_SESSION_LEAD_JOB_H_

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/cluster/task.h"
#include "common/session/leader.h"

namespace paceline {

// The tasks that the leader's process starts itself: none (this class), a
// cluster on this machine, or the worker beside it.
class OwnTasks {
 public:
  virtual ~OwnTasks() = default;
  // Starts them; the leader listens on `port`.
  virtual absl::Status Start(int /*port*/) { return absl::OkStatus(); }
  // Those that ended since the last call, with their exit codes.
  virtual std::vector<std::pair<TaskId, int>> TakeExits() { return {}; }
  // The job is over: ends its members that are left, within a few seconds.
  virtual void Shutdown() {}
  // The result is written: waits for an evaluator to finish its work if the job
  // `has_succeeded`, then ends it.
  virtual void ShutdownEvaluator(bool /*has_succeeded*/) {}
  // Of a task that has ended.
  virtual std::optional<int> exit_code(TaskId) const { return std::nullopt; }
};

struct LeadJobOptions {
  LeaderOptions leader;
  // Whether the job goes on from the latest checkpoint in its output folder.
  bool resumes = false;
  // Whether what data.test gave is printed as JSON. Tasks that were only to
  // connect are not printed then.
  bool print_json = false;
  // Whether the user has asked since the last call to stop.
  std::function<bool()> interrupted;
};

// Leads the job, writes its result into the output folder, prints what
// data.test gave and, to standard error, what went wrong, what became of an
// earlier run's files, and where the results are. If the tasks are only to
// connect, it prints where they are instead, and writes no result. The folder
// is locked meanwhile; that another run has it is bad input. Blocks until the
// job has ended. Returns the exit code; see exit_code.h. Call from the main
// thread.
int LeadJob(LeadJobOptions options, OwnTasks& own_tasks);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEAD_JOB_H_
