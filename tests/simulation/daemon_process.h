// A daemon of the simulated service: holds the tasks that it is told to hold.
#ifndef PACELINE_TESTS_SIMULATION_DAEMON_PROCESS_H_
#define PACELINE_TESTS_SIMULATION_DAEMON_PROCESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/queue/resources.h"
#include "paceline/v1/queue.pb.h"
#include "tests/simulation/coordinator_process.h"
#include "tests/simulation/simulator.h"
#include "tests/simulation/task_ledger.h"

namespace paceline {

struct DaemonOptions {
  std::string name;
  v1::TaskType type = v1::TASK_TYPE_WORKER;
  v1::Resources total;
};

class DaemonProcess : public Process,
                      public std::enable_shared_from_this<DaemonProcess> {
 public:
  // What the daemon needs of the service around it.
  class World {
   public:
    virtual ~World() = default;
    // The coordinator that runs now, or ran last.
    virtual std::shared_ptr<CoordinatorProcess> coordinator() = 0;
    // What the task takes.
    virtual Resources NeedOf(const RunningTask& task) = 0;
    // A task of the daemon began, and is asked to stop if it is a leader.
    virtual void TaskStarted(const RunningTask& task,
                             const std::shared_ptr<DaemonProcess>& daemon) = 0;
    virtual void StopAsked(const RunningTask& task,
                           const std::shared_ptr<DaemonProcess>& daemon) = 0;
    // A task of the daemon ended, in whatever way.
    virtual void TaskEnded(const RunningTask& task, int exit_code) = 0;
  };

  DaemonProcess(Simulator& simulator, TaskLedger& ledger, World& world,
                const DaemonOptions& options);

  void Start() { SyncRegularly(); }
  // The coordinator says that there is news.
  void Sync();
  // A task of this daemon ends by itself; nothing if it has ended already.
  void EndTask(const RunningTask& task, int exit_code);
  // A signal ends the daemon soon: it says so, asks its tasks to leave, and
  // starts no others.
  void Leave();
  // The daemon and its tasks are killed.
  void Die();
  // No message gets through until then; the tasks go on.
  void CutOffUntil(absl::Time time) { cut_off_until_ = time; }

  const std::string& name() const { return options_.name; }

 private:
  struct Held {
    v1::TaskState state = v1::TASK_STATE_RUNNING;
    std::string address;
    int exit_code = 0;
    bool is_being_killed = false;
    bool was_asked_to_stop = false;
  };

  void SyncRegularly();
  v1::SyncRequest Report();
  void TakeAnswer(uint64_t sequence, const v1::SyncResponse& response);
  void TakeOrders(const v1::SyncResponse& response);
  void StartTask(const RunningTask& task);
  // The task gets a signal, and ends a while later.
  void KillTask(const RunningTask& task, int exit_code);

  Simulator& simulator_;
  TaskLedger& ledger_;
  World& world_;
  const DaemonOptions options_;
  const Resources total_;
  const uint64_t incarnation_;
  uint64_t last_sent_ = 0;
  uint64_t last_taken_ = 0;
  uint64_t known_coordinator_ = 0;
  bool is_leaving_ = false;
  absl::Time cut_off_until_ = absl::InfinitePast();
  std::map<RunningTask, Held> held_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_DAEMON_PROCESS_H_
