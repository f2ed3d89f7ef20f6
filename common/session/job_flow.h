// What a job does after what: epochs, evaluations, checkpoints.
//
// Knows leases and sums, but no members: the session tells it which worker asks
// and which is gone. See session.h for the states.
#ifndef PACELINE_COMMON_SESSION_JOB_FLOW_H_
#define PACELINE_COMMON_SESSION_JOB_FLOW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/cluster/task.h"
#include "common/session/lease_report.h"
#include "common/session/lease_table.h"
#include "common/session/logged_metric.h"
#include "common/session/member_requests.h"
#include "common/session/saved_session.h"
#include "common/session/session.h"

namespace paceline {

// Not thread-safe. A state machine without I/O.
class JobFlow {
 public:
  // `world_size` divides a global batch. InvalidArgument or DataLoss if the
  // options contradict themselves or the state to go on from is damaged.
  static absl::StatusOr<JobFlow> Create(const SessionOptions& options,
                                        int world_size);

  // All workers are there and read the same sets. InvalidArgument if the sets
  // do not do for this job.
  absl::Status Start(const DataSizes& sizes, absl::Time now);

  // See LeaseTable. nullopt: nothing for this worker now.
  std::optional<v1::Lease> Grant(TaskId worker, int live_workers);
  // Returns whether a lease was finished.
  absl::StatusOr<bool> Report(TaskId worker, const LeaseReport& report,
                              absl::Time now);
  // A worker is gone. Leases of an evaluation go back at once; those of
  // training stay until Fenced.
  void WorkerLost(TaskId worker);
  absl::Status Fenced(TaskId worker, absl::Span<const LeaseReport> records,
                      absl::Time now);

  void SnapshotTaken(absl::Time now);
  // The error of the last checkpoint of the job is returned.
  absl::Status CheckpointWritten(const absl::Status& status, absl::Time now);

  bool started() const { return stage_ != Stage::kWaiting; }
  // All is done, the last checkpoint written.
  bool done() const { return stage_ == Stage::kDone; }
  // Whether the job stands still until whoever holds the variables has
  // taken or written a checkpoint.
  bool AwaitsCheckpoint() const {
    return stage_ == Stage::kCheckpoint || stage_ == Stage::kFinishing;
  }
  // A step of training: its epoch, from 0, and its number in the job, from 1,
  // in the order of the data.
  struct StepNumber {
    int epoch = 0;
    int64_t step = 0;
  };
  // Of the step, from 1, of a lease that the worker has; nullopt: it has no
  // such lease of training.
  std::optional<StepNumber> NumberOf(TaskId worker, uint64_t lease_id,
                                     int64_t step) const;
  bool Holds(TaskId worker) const { return table_ && table_->Holds(worker); }
  // Who holds leases.
  std::vector<TaskId> Holders() const {
    return table_ ? table_->Holders() : std::vector<TaskId>();
  }
  // The loss and the metrics.
  const std::vector<LoggedMetric>& metrics() const { return metrics_; }
  // Training steps of the whole job before this run of it.
  int64_t first_step() const { return restored_ ? restored_->steps : 0; }
  // Training steps of the whole job that were leased so far, done or not.
  int64_t StepsLeased() const;

  ProgressView Progress() const;
  const std::vector<EpochRecord>& history() const { return history_; }
  // The actions since the last call, in order.
  std::vector<Action> TakeActions();

  // Internal, naming what is wrong, unless the pass keeps its own
  // (LeaseTable::CheckInvariants), and:
  //  * Each stage has the pass that is its own; between passes nothing is open,
  //    nor while a checkpoint is taken.
  //  * A pass of training has the examples of an epoch.
  //  * No lease goes beyond the step of the next checkpoint.
  //  * Each epoch that is over is in the history.
  //  * A checkpoint whose snapshot is awaited is to be written, too, and none
  //  is
  //    at the end of the job.
  // For tests; takes time in proportion to the open leases.
  absl::Status CheckInvariants() const;

 private:
  enum class Stage {
    kWaiting,
    // The workers connect, and that is all.
    kConnecting,
    kTraining,
    // A checkpoint is due: waits until the one before is written, then until
    // the snapshot is taken.
    kCheckpoint,
    kValidating,
    kTesting,
    // Waits until the last checkpoint is written.
    kFinishing,
    kDone,
  };

  JobFlow() = default;

  // Goes on as far as possible.
  void Advance(absl::Time now);
  void AdvanceTraining(absl::Time now);
  void AdvanceCheckpoint(absl::Time now);
  void AdvanceEvaluation(absl::Time now);

  void BeginEpoch(const SavedSession& from, absl::Time now);
  void BeginEvaluation(v1::Phase phase, int64_t examples);
  void EndTraining(absl::Time now);
  void EndEpoch(absl::Time now);
  // After an epoch and its checkpoint.
  void BeginNext(absl::Time now);

  LeaseTable::Options PassOptions(v1::Phase phase) const;
  // Where the job stands; only while no lease is open.
  SavedSession Save(absl::Time now) const;
  // The state in which epoch_ begins.
  SavedSession EpochStart() const;
  bool CheckpointDueAfterEpoch() const;
  // Steps that may still be leased before the next checkpoint by steps.
  int64_t StepsToCheckpoint() const;
  bool AllEpochsDone() const { return epoch_ >= epochs_; }
  // The values of these, the first of the job's, in the pass so far; none
  // before the first example.
  Logs Values(absl::Span<const LoggedMetric> metrics) const;
  // Whether the pass is one that the stage has.
  bool PassFitsStage() const;
  // Tells of a loss of an evaluation that is not finite, once a job.
  void NoteEvaluation(const Logs& logs);

  // Of the job.
  std::vector<LoggedMetric> metrics_;
  int epochs_ = 1;
  // Examples in a step of training, and of an evaluation.
  int64_t step_batch_size_ = 1;
  int64_t steps_per_execution_ = 1;
  int64_t worker_batch_size_ = 1;
  // Of training.
  int workers_per_lease_ = 1;
  int64_t steps_per_epoch_ = 0;
  bool connects_only_ = false;
  bool evaluate_only_ = false;
  bool checkpoints_ = false;
  int64_t checkpoint_epochs_ = 0;
  int64_t checkpoint_steps_ = 0;
  std::function<double(int64_t)> learning_rate_;
  std::optional<SavedSession> restored_;
  DataSizes sizes_;
  // Positions of an epoch.
  int64_t epoch_examples_ = 0;

  Stage stage_ = Stage::kWaiting;
  int epoch_ = 0;
  // Steps of all epochs before this one.
  int64_t steps_before_epoch_ = 0;
  // The pass under way, if any.
  std::optional<LeaseTable> table_;
  uint64_t next_lease_id_ = 1;
  // When training of this epoch began, or where it would have begun had it not
  // been interrupted by a resume.
  absl::Time epoch_began_;
  // The epoch that is being validated.
  EpochRecord record_;
  std::vector<EpochRecord> history_;

  // Steps at the last checkpoint.
  int64_t checkpointed_steps_ = 0;
  bool snapshot_pending_ = false;
  bool has_told_of_evaluation_ = false;
  bool writing_ = false;
  bool writing_last_ = false;

  std::vector<Action> actions_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_JOB_FLOW_H_
