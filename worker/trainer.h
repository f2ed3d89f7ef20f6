// The loop of a worker: batch by batch through the device and the strategy.
#ifndef PACELINE_WORKER_TRAINER_H_
#define PACELINE_WORKER_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/model/metric_layout.h"
#include "paceline/v1/coordinator.pb.h"
#include "paceline/v1/ps.pb.h"
#include "worker/data/batch_pipeline.h"
#include "worker/device/device.h"
#include "worker/program_cache.h"
#include "worker/progress_sink.h"
#include "worker/strategy/strategy.h"
#include "worker/strategy/transport_statistics_all_reduce.h"

namespace paceline {

// What the loop works with; all of it outlives the trainer.
struct TrainerParts {
  BatchPipeline* pipeline = nullptr;
  ProgramCache* programs = nullptr;
  ModelState* state = nullptr;
  Stream* stream = nullptr;
  Strategy* strategy = nullptr;
  // Null if no layer shares statistics.
  TransportStatisticsAllReduce* statistics = nullptr;
  ProgressSink* progress = nullptr;
  // Those that steps update.
  int bucket_count = 0;
  // As ProgramSpec has it.
  int steps_per_execution = 1;
  // Told that the trainer waits for a device that may wait for others, and ""
  // when it no longer does; null: the device waits for nobody.
  std::function<void(const std::string&)> on_waiting;
};

// Where the device updates the variables, nobody waits for a step: what it sums
// up is read, and reported, when a lease ends and every so many steps, or each
// step with `log_steps`. Not thread-safe. A warm step allocates nothing of its
// own.
class Trainer {
 public:
  // `layout` of the job's metrics; `log_steps` reports the loss of each step,
  // also where this replica has no example.
  Trainer(const TrainerParts& parts, const MetricLayout& layout,
          bool log_steps);

  // Processes the pipeline's batches until it ends, or the first error.
  absl::Status Run();

 private:
  absl::Status RunBatch(const PreparedBatch& prepared);
  // Tells the strategy where the step leads.
  void BeginStep(const PreparedBatch& prepared);
  absl::Status Train(const Batch& batch);
  // This replica has no example in a step that others train on.
  absl::Status TrainOnNothing();
  absl::Status Evaluate(const Batch& batch);
  // Whether the sums are to be read after this batch.
  bool IsReadingDue(const PreparedBatch& prepared) const;
  // Takes the device's sums into the lease's report.
  absl::Status AccountFor(const PreparedBatch& prepared);
  // Gives the lease's report the first `count` of its states.
  void WriteStates(size_t count);
  // Tells how far the lease is.
  void Report(bool ends_lease);
  void StartLease(const v1::Lease& lease);
  void TellWaiting(bool waits);

  const TrainerParts parts_;
  const bool log_steps_;
  // As MetricLayout has it.
  const size_t reported_size_;
  // Batches of a lease from one reading of the sums to the next.
  const uint64_t reading_interval_;
  const std::string waiting_ = "the sums of the other GPUs";
  // The one at hand; kept, so that a step does not allocate its lists.
  Batch batch_;
  // Of the lease, and of the batches since the last reading.
  MetricSums sums_;
  MetricSums read_;
  // The lease at hand, and the one before.
  v1::Progress progress_;
  // Where the step at hand leads, without sums.
  v1::Progress position_;
  v1::Phase phase_ = v1::PHASE_UNSPECIFIED;
  uint32_t epoch_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_TRAINER_H_
