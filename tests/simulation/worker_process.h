// A worker of the simulated job: takes leases and pushes every batch to all
// shards. The value of an example is its position, so sums show whether each
// was counted once.
#ifndef PACELINE_TESTS_SIMULATION_WORKER_PROCESS_H_
#define PACELINE_TESTS_SIMULATION_WORKER_PROCESS_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "common/session/machine/job_flow.h"
#include "tests/simulation/member_process.h"
#include "tests/simulation/shard_process.h"

namespace paceline {

struct WorkerOptions {
  DataSizes sizes;
  int64_t batch_size = 1;
  absl::Duration min_step = absl::Milliseconds(50);
  absl::Duration max_step = absl::Milliseconds(400);
  // Whether it joins for each lease, as under bounded staleness.
  bool joins = false;
  // Whether the pushes of a step are sent during the step, one after the other,
  // and only the last one has sums.
  bool pushes_early = false;
  // Whether it is broken: it joins repeatedly, and takes no lease.
  bool only_joins = false;
};

class WorkerProcess : public MemberProcess {
 public:
  WorkerProcess(Simulator& simulator, LeaderProcess& leader,
                std::vector<std::shared_ptr<ShardProcess>> shards, int index,
                const WorkerOptions& options);

  // A signal asks it to leave: it finishes its step first.
  void AskToLeave();

 private:
  void Registered() override { AwaitStart(); }
  void AddProgress(v1::HeartbeatRequest& request) override;
  void ProgressArrived(const v1::HeartbeatRequest& request) override;

  v1::WorkerId id() const;
  void AwaitStart();
  // Asks for leases while it has fewer than two.
  void Acquire();
  void Step();
  void Compute();
  // Calls `joined` once all shards have answered.
  void Join(std::function<void()> joined);
  void OnlyJoin();
  // The push of the step that begins.
  Push NextPush();
  // Spreads all pushes but the last over the duration of the step.
  void PushEarly(absl::Duration step);
  void PushStep();
  // Repeats the push until the shard answers.
  void PushTo(const std::shared_ptr<ShardProcess>& shard, const Push& push);
  void StepDone();
  // The report of the lease after the current step.
  v1::LeaseReport NextReport() const;

  const std::vector<std::shared_ptr<ShardProcess>> shards_;
  const WorkerOptions options_;
  const int index_;

  uint64_t request_ = 1;
  bool leaves_ = false;
  bool is_asking_ = false;
  bool is_working_ = false;
  bool is_computing_ = false;
  // Of a step that pushes early: the push to the last shard, with the sums.
  Push last_push_;
  std::deque<v1::Lease> leases_;
  // By lease; finished leases stay until a heartbeat has delivered their
  // report.
  std::map<uint64_t, v1::LeaseReport> reports_;
  std::set<uint64_t> finished_;
  // The last finished lease.
  v1::LeaseReport previous_;
  uint64_t sequence_ = 0;
  uint64_t clock_ = 0;
  size_t missing_answers_ = 0;
  uint64_t activity_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_WORKER_PROCESS_H_
