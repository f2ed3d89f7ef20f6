// Carries what belongs to a job between the coordinator and this machine: the
// job's files here before its tasks start, logs and outputs there.
#ifndef PACELINE_COMMON_DAEMON_JOB_COURIER_H_
#define PACELINE_COMMON_DAEMON_JOB_COURIER_H_

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/daemon/log_shipper.h"
#include "common/daemon/output_shipper.h"
#include "common/daemon/task_book.h"
#include "common/rpc/service_client.h"

namespace paceline {

// One for each start of a job. Two threads do the work, so that a large output
// does not delay logs. Thread-safe; no method but the destructor blocks on a
// call or the disk.
class JobCourier {
 public:
  // Begins to fetch the files that `first` needs into `folder`. The client must
  // outlive it.
  JobCourier(ServiceClient& client, std::string folder, const HeldTask& first);
  // Joins the threads, which takes as long as an open call does unless
  // HasStopped.
  ~JobCourier();

  // Whether the files are there, or why not; nullopt while they are fetched.
  std::optional<absl::Status> fetched();

  // From now on the task writes to its log, and perhaps outputs. If it is the
  // leader, it also writes its progress.
  void TaskStarted(const HeldTask& task, const std::string& log_path,
                   const std::string& progress_path);
  void TaskEnded(const HeldTask& task);
  // Whether the coordinator has the log and the outputs of a task that has
  // ended. What the coordinator answers with an error is given up after some
  // seconds; what it has no room for (ResourceExhausted), after some hours.
  bool HasShipped(const HeldTask& task);
  // Of a task that HasShipped: why outputs were given up; "" if none were.
  std::string LostOutputs(const HeldTask& task);

  // The coordinator is another process, which has no progress of the job yet.
  void CoordinatorChanged();

  // The daemon is leaving: what the coordinator has no room for is given up as
  // soon as all else.
  void Hurry();

  // Asks the threads to end.
  void Stop();
  bool IsStopping();
  bool HasStopped();

 private:
  // A task that was started.
  struct Task {
    LogShipper log;
    bool sends_progress_again = false;
    bool has_ended = false;
    // How the last attempt to ship the log went.
    absl::Status log_error = absl::OkStatus();
    // No attempt to ship the log is made before this time.
    absl::Time next_log = absl::InfinitePast();
    // Since when the coordinator has refused what the ended task has left, and
    // since when it has had no room for it. InfiniteFuture: it does not.
    absl::Time failing_since = absl::InfiniteFuture();
    absl::Time full_since = absl::InfiniteFuture();
    bool is_log_shipped = false;
    bool are_outputs_shipped = false;
    std::string lost_outputs = "";
  };

  void CarryFiles();
  absl::Status Fetch();
  void CarryOutputs();
  // The tasks that have ended, and whose outputs have yet to be shipped.
  std::vector<HeldTask> WithoutOutputs();
  // The outputs of these tasks were shipped, or not.
  void OutputsTried(const std::vector<HeldTask>& ended,
                    const absl::Status& status);
  bool IsHurrying();
  void CarryLogs();
  // Ships some of the log. Returns whether there may be more.
  static absl::StatusOr<bool> ShipLog(LogShipper& log);
  void LogFailed(const absl::Status& error, Task& task)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether to give up after an error of a task that has ended.
  bool GivesUp(const absl::Status& error, Task& task)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until something changed, at most for `time`.
  void Pause(absl::Duration time);

  ServiceClient& client_;
  const std::string folder_;
  const HeldTask first_;
  // Used by the thread of files alone.
  OutputShipper outputs_;

  Mutex mutex_;
  CondVar changed_;
  std::optional<absl::Status> fetched_ ABSL_GUARDED_BY(mutex_);
  // Tasks are only added. The thread of logs uses `log` without the lock.
  std::map<HeldTask, Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_hurrying_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  int running_threads_ ABSL_GUARDED_BY(mutex_) = 2;

  std::thread files_thread_;
  std::thread logs_thread_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_JOB_COURIER_H_
