// The coordinator of the simulated service: a job queue, and a store that
// survives it.
#ifndef PACELINE_TESTS_SIMULATION_COORDINATOR_PROCESS_H_
#define PACELINE_TESTS_SIMULATION_COORDINATOR_PROCESS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/queue/job_queue.h"
#include "tests/queue_records.h"
#include "tests/simulation/simulator.h"
#include "tests/simulation/task_ledger.h"

namespace paceline {

struct CoordinatorOptions {
  JobQueueOptions queue;
  // The chance that it dies over an event of which something follows: before it
  // stores that, or after that and before it answers.
  double crash_chance = 0;
  // Invariants are checked after each so many events.
  int check_every = 1;
};

class CoordinatorProcess
    : public Process,
      public std::enable_shared_from_this<CoordinatorProcess> {
 public:
  // Called with the name of a daemon whose orders have changed.
  using Wake = std::function<void(const std::string& daemon)>;

  CoordinatorProcess(Simulator& simulator, TaskLedger& ledger,
                     QueueRecords& store, const CoordinatorOptions& options,
                     Wake wake);

  void Start();

  absl::Status CheckInvariants() const override;

  // Feeds an event into the queue, stores what follows, and returns the
  // answer. nullopt: the coordinator died over it.
  template <typename Event>
  auto Handle(const Event& event) {
    auto answer = std::make_optional(event(*queue_, simulator_.now()));
    if (!Follow()) answer.reset();
    return answer;
  }

  const JobQueue& queue() const { return *queue_; }

 private:
  void Tick();
  // Carries out the actions. False: it died.
  bool Follow();
  bool Dies();

  Simulator& simulator_;
  TaskLedger& ledger_;
  QueueRecords& store_;
  const CoordinatorOptions options_;
  const Wake wake_;
  std::unique_ptr<JobQueue> queue_;
  mutable int events_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_SIMULATION_COORDINATOR_PROCESS_H_
