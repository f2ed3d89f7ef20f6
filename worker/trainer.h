// The training loop of a worker: passes batches to the device and gradients to
// the strategy.
#ifndef PACELINE_WORKER_TRAINER_H_
#define PACELINE_WORKER_TRAINER_H_

#include <array>
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
#include "worker/trace/replica_trace.h"

namespace paceline {

// What the loop needs; everything must outlive the trainer.
struct TrainerParts {
  BatchPipeline* pipeline = nullptr;
  ProgramCache* programs = nullptr;
  ModelState* state = nullptr;
  Stream* stream = nullptr;
  Strategy* strategy = nullptr;
  // The all-reduce of statistics; null if no layer has synchronized statistics.
  TransportStatisticsAllReduce* statistics = nullptr;
  ProgressSink* progress = nullptr;
  // Number of buckets that steps update.
  int bucket_count = 0;
  // See ProgramSpec::steps_per_execution.
  int steps_per_execution = 1;
  // Called when the trainer starts and stops waiting for an all-reduce on the
  // device: with what it waits for, then with "". Null: the device is in no
  // group.
  std::function<void(const std::string&)> on_waiting;
  // Whether the worker is to leave the job; stays true. Null: never.
  std::function<bool()> leaves;
  // The number of the job's first epoch.
  int64_t first_epoch = 0;
  // Hears of the steps. Null: nothing is recorded.
  ReplicaTrace* trace = nullptr;
  // Called with the first batch of the job, if this replica has its first
  // example, before the step. Null: nobody wants it.
  std::function<void(const PreparedBatch&)> on_first_batch = nullptr;
};

// If the device updates the variables, the host does not wait for each step:
// the trainer reads the device's sums, and reports them, at the end of a lease
// and every kReadingInterval steps, or after each step with `log_steps`. Not
// thread-safe. After the first steps it allocates no memory.
class Trainer {
 public:
  // `layout`: the layout of the job's metrics. `log_steps`: reports the loss of
  // each step, even if this replica has no example in it.
  Trainer(const TrainerParts& parts, const MetricLayout& layout,
          bool log_steps);

  // Processes the pipeline's batches until there are no more, or the first
  // error. If the worker is to leave, it ends with the current step, or with
  // one more of a training lease that has begun: as the last step of a lease,
  // that one is applied and reported with all sums.
  absl::Status Run();

 private:
  absl::Status RunBatch(const PreparedBatch& prepared);
  // Tells whoever wants to know of it.
  void ShowBatch(const PreparedBatch& prepared);
  // Tells the strategy the progress after this step.
  void BeginStep(const PreparedBatch& prepared);
  absl::Status Train(const Batch& batch);
  // Takes part in a step in which only other replicas have examples.
  absl::Status TrainOnNothing();
  absl::Status Evaluate(const Batch& batch);
  bool Leaves() const { return parts_.leaves != nullptr && parts_.leaves(); }
  // Whether to read the device's sums after this batch.
  bool IsReadingDue() const;
  // Adds the device's sums to the lease's report.
  absl::Status AccountFor(const PreparedBatch& prepared);
  // Writes the first `count` states into the lease's report.
  void WriteStates(size_t count);
  // Reports the progress with the lease.
  void Report();
  // A step has ended; `step` is what EndStep returned. Reports its loss, with
  // `log_steps`.
  void NoteStep(int64_t step);
  // Reports the steps of the lease that are applied.
  void ReportApplied();
  void StartLease(const v1::Lease& lease);
  void TellWaiting(bool waits);

  const TrainerParts parts_;
  const bool log_steps_;
  // See MetricLayout::reported_size().
  const size_t reported_size_;
  // Batches of a lease between two readings of the sums.
  const uint64_t reading_interval_;
  const std::string waiting_ = "the sums of the other GPUs";
  // The current batch; a member, so that a step does not allocate its lists.
  Batch batch_;
  // The sums of the lease, and of the batches since the last reading.
  MetricSums sums_;
  MetricSums read_;
  // The progress with the current lease and the one before.
  v1::Progress progress_;
  // The progress after the current step, without sums.
  v1::Progress position_;
  // Whether the current step is the last of its lease that this worker takes.
  bool ends_lease_ = true;
  // Whether the last step is applied. If not, its report, and the sum and
  // weight of its loss, which follow when it is.
  bool is_applied_ = true;
  v1::LeaseReport unapplied_;
  std::array<double, 2> unapplied_loss_ = {};
  v1::Phase phase_ = v1::PHASE_UNSPECIFIED;
  uint32_t epoch_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_TRAINER_H_
