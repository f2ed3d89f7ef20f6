// The simulated job: a leader, shards, and workers that crash, hang and
// restart.
#ifndef PACELINE_TESTS_SIMULATION_CLUSTER_H_
#define PACELINE_TESTS_SIMULATION_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/simulation/leader_process.h"
#include "tests/simulation/ledger.h"
#include "tests/simulation/shard_process.h"
#include "tests/simulation/simulator.h"
#include "tests/simulation/worker_process.h"

namespace paceline {

struct ClusterOptions {
  uint64_t seed = 0;
  int workers = 200;
  int shards = 20;
  int epochs = 2;
  int checkpoint_steps = 500;
  AggregatorOptions aggregator;
  WorkerOptions worker = {{/*train=*/6005, /*validation=*/6003, /*test=*/400},
                          /*batch_size=*/5};
  // The first workers, which only join and take no leases.
  int joining_workers = 0;
  NetworkOptions network;
  // Time between two crashes of some worker, and between two hangs.
  absl::Duration crash_interval = absl::Milliseconds(500);
  absl::Duration hang_interval = absl::Milliseconds(500);
  // Time between two signals that ask some worker to leave.
  absl::Duration leave_interval = absl::InfiniteDuration();
  absl::Duration longest_hang = absl::Seconds(15);
  // A crashed worker, or one that left, restarts within this time.
  absl::Duration longest_absence = absl::Seconds(10);
};

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options);

  // Runs until the job has ended and all members have left. Errors: see
  // Simulator::Run.
  absl::Status Run(absl::Duration limit);
  // Runs until the job trains epoch `epoch`.
  absl::Status RunToEpoch(int epoch, absl::Duration limit);

  Simulator& simulator() { return simulator_; }
  Ledger& ledger() { return ledger_; }
  const LeaderProcess& leader() const { return *leader_; }
  // Number of workers that lapsed, over all shards.
  int lapsed_count() const;
  ShardProcess& shard(int index) { return *shards_[index]; }

 private:
  void StartWorker(int index);
  // Starts to inject faults once the job trains: it can only start when all
  // tasks are running at the same time.
  void AwaitStart();
  // Injects faults repeatedly.
  void Crash();
  void Hang();
  void Leave();
  // Starts processes in place of those that ended.
  void Replace();

  const ClusterOptions options_;
  Simulator simulator_;
  Ledger ledger_;
  // The process that schedules faults; never ends.
  const ProcessPtr fate_ = std::make_shared<Process>();
  std::shared_ptr<LeaderProcess> leader_;
  std::vector<std::shared_ptr<ShardProcess>> shards_;
  std::vector<std::shared_ptr<WorkerProcess>> workers_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_CLUSTER_H_
