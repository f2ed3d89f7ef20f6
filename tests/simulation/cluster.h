// The simulated job: a leader, shards, and workers that crash, hang and come
// back.
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
  // The first so many only join.
  int joining_workers = 0;
  NetworkOptions network;
  // Time between two crashes, and between two hangs, of some worker.
  absl::Duration crash_interval = absl::Milliseconds(500);
  absl::Duration hang_interval = absl::Milliseconds(500);
  absl::Duration longest_hang = absl::Seconds(15);
  // A crashed worker comes back within this.
  absl::Duration longest_absence = absl::Seconds(10);
};

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options);

  // Runs until the job has ended and all members have left. Errors are those of
  // Simulator::Run.
  absl::Status Run(absl::Duration limit);
  // Runs until the job trains its `epoch`-th epoch.
  absl::Status RunToEpoch(int epoch, absl::Duration limit);

  Simulator& simulator() { return simulator_; }
  Ledger& ledger() { return ledger_; }
  const LeaderProcess& leader() const { return *leader_; }
  // On all shards: workers that were waited for too long.
  int lapsed_count() const;
  ShardProcess& shard(int index) { return *shards_[index]; }

 private:
  void StartWorker(int index);
  // Faults come once the job trains: it starts only when all tasks are there at
  // one moment.
  void AwaitStart();
  // Injects faults, over and over.
  void Crash();
  void Hang();
  // Starts processes in the place of those that ended.
  void Replace();

  const ClusterOptions options_;
  Simulator simulator_;
  Ledger ledger_;
  // Where faults come from; never dies.
  const ProcessPtr fate_ = std::make_shared<Process>();
  std::shared_ptr<LeaderProcess> leader_;
  std::vector<std::shared_ptr<ShardProcess>> shards_;
  std::vector<std::shared_ptr<WorkerProcess>> workers_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_CLUSTER_H_
