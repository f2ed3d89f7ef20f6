// Runs a job from its leader's options to its result files and exit code.
#ifndef PACELINE_COMMON_SESSION_LEADER_LEAD_JOB_H_
#define PACELINE_COMMON_SESSION_LEADER_LEAD_JOB_H_

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/cluster/task.h"
#include "common/session/leader/leader.h"

namespace paceline {

// The tasks that the leader's process starts itself. This base class starts
// none; subclasses start a cluster on this machine, or the worker in the
// leader's own process.
class OwnTasks {
 public:
  virtual ~OwnTasks() = default;
  // Starts the tasks. The leader listens on `port`.
  virtual absl::Status Start(int /*port*/) { return absl::OkStatus(); }
  // The tasks that ended since the last call, with their exit codes.
  virtual std::vector<std::pair<TaskId, int>> TakeExits() { return {}; }
  // Called after the job: ends the members that are still running, within a few
  // seconds.
  virtual void Shutdown() {}
  // Called after the result is written. If the job `has_succeeded`, waits for
  // the evaluator to finish its work; then ends it.
  virtual void ShutdownEvaluator(bool /*has_succeeded*/) {}
  // The exit code of a task that has ended.
  virtual std::optional<int> exit_code(TaskId) const { return std::nullopt; }
};

struct LeadJobOptions {
  LeaderOptions leader;
  // Whether the job resumes from the latest checkpoint in its output folder.
  // One with a BackupAndRestore does so by itself if there is one.
  bool resumes = false;
  // Whether to print the metrics on data.test as JSON. With connects_only,
  // nothing is printed as JSON.
  bool print_json = false;
  // Returns whether the user has asked to stop since the last call.
  std::function<bool()> interrupted;
};

// Leads the job to its end and writes its result into the output folder. Prints
// the metrics on data.test to stdout. Prints to stderr what went wrong, what
// was done with the files of an earlier run, and where the results are. With
// connects_only it prints the addresses of the tasks instead, and writes no
// result.
//
// A job with phases runs one after the other, under a leader each; the tasks
// stay, and register again. Of a job that a queue has placed, each phase but
// the last ends with kRestart, and the next start goes on with the next one.
//
// Of a job that a queue has placed, the results are soon elsewhere, so it does
// not say where they are. The first request to stop waits for a last
// checkpoint, and the second does not. If a task of it that it cannot do
// without was asked to leave, the exit code is kRestart. A result that could
// not be written makes each of these kJobFailed.
//
// The output folder is locked while the job runs. If another run has locked it,
// the exit code is that of bad input. Blocks until the job has ended. Returns
// the exit code; see exit_code.h. Call from the main thread.
int LeadJob(LeadJobOptions options, OwnTasks& own_tasks);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_LEAD_JOB_H_
