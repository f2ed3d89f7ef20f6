// The simulated service: a coordinator and daemons that die and come back, jobs
// that people submit and stop.
#ifndef PACELINE_TESTS_SIMULATION_SERVICE_H_
#define PACELINE_TESTS_SIMULATION_SERVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/queue/resources.h"
#include "paceline/v1/queue.pb.h"
#include "tests/simulation/coordinator_process.h"
#include "tests/simulation/daemon_process.h"
#include "tests/simulation/simulator.h"
#include "tests/simulation/task_ledger.h"

namespace paceline {

struct ServiceOptions {
  uint64_t seed = 0;
  int daemons = 40;
  int jobs = 200;
  // Jobs are submitted over this time.
  absl::Duration submit_time = absl::Minutes(30);
  absl::Duration longest_job = absl::Minutes(5);
  int many_workers = 20;
  // Fractions of jobs that have many workers, that people stop, and that have a
  // timeout, and of starts that fail.
  double large = 0.1;
  double stopped = 0.05;
  double with_timeout = 0.3;
  double failing = 0.05;
  // Jobs of which each start ends as if its machine went away.
  double departing = 0.05;
  // Time between two deaths of some daemon, and between two times at which
  // one is cut off.
  absl::Duration death_interval = absl::Minutes(1);
  absl::Duration cut_interval = absl::Minutes(1);
  // A daemon is drained, or that is taken back, after this time.
  absl::Duration drain_interval = absl::Minutes(2);
  // A dead coordinator or daemon is started again within this time.
  absl::Duration longest_absence = absl::Seconds(30);
  // The fraction of daemons that say that they leave before they die. They stay
  // away for longer, some until they are forgotten.
  double leaving = 0.3;
  CoordinatorOptions coordinator;
  NetworkOptions network;
};

class Service : public DaemonProcess::World {
 public:
  explicit Service(const ServiceOptions& options);

  // Runs until all jobs are submitted and have ended.
  absl::Status Run(absl::Duration limit);
  // Compares how the jobs ended with what really happened.
  void CheckOutcomes();

  const QueueRecords& store() const { return store_; }
  const TaskLedger& ledger() const { return ledger_; }
  int coordinator_deaths() const { return coordinator_deaths_; }
  int daemon_deaths() const { return daemon_deaths_; }
  int forgotten_daemons() const { return forgotten_daemons_; }
  // Jobs that failed since each of their starts departed.
  int departed_jobs() const { return departed_jobs_; }

  // --- DaemonProcess::World ---
  std::shared_ptr<CoordinatorProcess> coordinator() override {
    return coordinator_;
  }
  Resources NeedOf(const RunningTask& task) override;
  void TaskStarted(const RunningTask& task,
                   const std::shared_ptr<DaemonProcess>& daemon) override;
  void StopAsked(const RunningTask& task,
                 const std::shared_ptr<DaemonProcess>& daemon) override;
  void TaskEnded(const RunningTask& task, int exit_code) override;

 private:
  // What really becomes of a start of a job.
  struct Start {
    std::map<RunningTask, std::shared_ptr<DaemonProcess>> tasks;
    bool all_ran = false;
    // Of the leader.
    bool has_ended = false;
    int exit_code = 0;
  };

  const v1::Submission& SubmissionOf(const std::string& job) const {
    return store_.jobs.at(job).submission();
  }
  v1::Submission DrawJob(int index);
  void Submit(const v1::Submission& submission);
  void StopJob(const std::string& job);
  void StartCoordinator();
  void StartDaemon(int index);
  // Starts the coordinator again when it has died.
  void WatchCoordinator();
  void KillDaemons();
  // The daemon dies, and is started again within `absence`.
  void KillDaemon(int index, absl::Duration absence);
  void CutDaemonsOff();
  void DrainDaemons();
  // The leader ends after `delay`, if it runs then.
  void EndLeader(const RunningTask& leader, absl::Duration delay,
                 int exit_code);
  bool AllEnded() const;
  void CheckDeparting(const v1::JobRecord& record);

  const ServiceOptions options_;
  Simulator simulator_;
  TaskLedger ledger_;
  QueueRecords store_;
  // What people do, and fate; never end.
  const ProcessPtr people_ = std::make_shared<Process>();
  std::shared_ptr<CoordinatorProcess> coordinator_;
  std::vector<std::shared_ptr<DaemonProcess>> daemons_;
  std::map<std::pair<std::string, uint32_t>, Start> starts_;
  std::set<std::string> stopped_;
  // The daemon that is drained, if one is.
  std::string drained_;
  int answered_ = 0;
  int coordinator_deaths_ = 0;
  int daemon_deaths_ = 0;
  // Those that came back after the queue had forgotten them.
  int forgotten_daemons_ = 0;
  int departed_jobs_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_SERVICE_H_
