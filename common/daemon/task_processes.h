// The processes of a daemon's tasks, from the order to the last line of the
// log.
#ifndef PACELINE_COMMON_DAEMON_TASK_PROCESSES_H_
#define PACELINE_COMMON_DAEMON_TASK_PROCESSES_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/daemon/daemon_options.h"
#include "common/daemon/idle_jobs.h"
#include "common/daemon/job_courier.h"
#include "common/daemon/task_book.h"
#include "common/daemon/task_command.h"
#include "common/daemon/task_limits.h"
#include "common/process/child.h"
#include "common/rpc/service_client.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Use it on the main thread, see Child. Not thread-safe. The destructor kills
// what runs.
class TaskProcesses {
 public:
  // What became of a task.
  struct Event {
    HeldTask task;
    // Of a leader that listens now; "" if the task is over.
    std::string address;
    TaskEnd end = {};
  };

  // Both must outlive it.
  TaskProcesses(const DaemonOptions& options, ServiceClient& client);

  // The task's process starts once the job's files are there, and the tasks of
  // earlier starts of the job are gone.
  void Start(const v1::TaskOrder& order);
  // Sends a signal. Without a process, the task is over.
  void Signal(const HeldTask& task, int signal);

  // The coordinator is another process than before.
  void CoordinatorChanged();

  // The daemon is going to end: what its tasks have left waits no longer for
  // room on the coordinator's disk.
  void Leave();

  // What happened since the last call. Short, but for what it reads of a
  // checkpoint, and the resolver.
  std::vector<Event> Poll();

  // Whether no process runs, and each that did ended since it was asked to
  // leave.
  bool HaveDeparted() const;
  // Whether a task waits for its files, or for its leader's port: look again
  // soon.
  bool is_starting() const;

 private:
  struct Process {
    v1::TaskOrder order;
    TaskPaths paths;
    std::shared_ptr<JobCourier> courier;
    std::set<int> gpus;
    // While the task has a process.
    std::unique_ptr<TaskLimit> limit;
    std::optional<Child> child;
    bool listens = false;
    std::optional<int> exit_code;
    // Of the process that has ended, by its limit.
    std::string error;
    // Set to end a task without a process.
    std::optional<Event> over;
  };
  using Processes = std::map<HeldTask, Process>;

  // Brings a task forward. Returns what is new of it.
  std::optional<Event> Advance(const HeldTask& task, Process& process);
  // The task's process has ended.
  void TakeEnd(const HeldTask& task, Process& process);
  std::optional<Event> Prepare(const HeldTask& task, Process& process);
  absl::Status Spawn(const HeldTask& task, Process& process);
  // The leader's address, once it has written its port.
  std::optional<Event> LookForPort(const HeldTask& task, Process& process);
  // The courier for the task's start of the job; nullptr while one that stops
  // still has the job's folder.
  std::shared_ptr<JobCourier> CourierOf(const HeldTask& task,
                                        const TaskPaths& paths);
  void DismissCouriers();
  void TidyJobs();
  absl::StatusOr<std::string> Host();
  absl::StatusOr<std::set<int>> FreeGpus(uint64_t count) const;

  const DaemonOptions& options_;
  ServiceClient& client_;
  // Where tasks listen; "": not known yet.
  std::string host_;
  TaskLimits limits_;
  IdleJobs idle_jobs_;
  absl::Time next_tidying_;
  // By job and generation.
  std::map<std::pair<std::string, uint32_t>, std::shared_ptr<JobCourier>>
      couriers_;
  // Destroyed before the couriers, which see their ends.
  Processes processes_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_TASK_PROCESSES_H_
