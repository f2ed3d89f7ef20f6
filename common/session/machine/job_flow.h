// The order of a job's stages: epochs, evaluations and checkpoints.
//
// JobFlow knows leases and metric sums, but no members: the session says which
// worker asks for a lease and which worker is lost. See session.h for the
// states. job_flow.cc has the start and the events, job_flow_stages.cc the
// stages, job_flow_checkpoints.cc where checkpoints are due and what they save,
// job_flow_invariants.cc the invariants.
#ifndef PACELINE_COMMON_SESSION_MACHINE_JOB_FLOW_H_
#define PACELINE_COMMON_SESSION_MACHINE_JOB_FLOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/cluster/task.h"
#include "common/session/machine/callback_flow.h"
#include "common/session/machine/checkpoint_flow.h"
#include "common/session/machine/lease_report.h"
#include "common/session/machine/lease_table.h"
#include "common/session/machine/logged_metric.h"
#include "common/session/machine/member_requests.h"
#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"
#include "common/session/machine/validation_schedule.h"

namespace paceline {

// Not thread-safe. A state machine without I/O.
class JobFlow {
 public:
  // A global batch is divided among `world_size` workers. InvalidArgument or
  // DataLoss if the options contradict themselves or the state to resume from
  // is damaged.
  static absl::StatusOr<JobFlow> Create(const SessionOptions& options,
                                        int world_size);

  // Call it once all workers are there and have reported the same data sizes.
  // InvalidArgument if the job cannot run on data sets of these sizes.
  absl::Status Start(const DataSizes& sizes, absl::Time now);

  // See LeaseTable::Grant. nullopt: there is no lease for this worker now.
  std::optional<v1::Lease> Grant(TaskId worker, int live_workers);
  // Returns whether this report finished the lease.
  absl::StatusOr<bool> Report(TaskId worker, const LeaseReport& report,
                              absl::Time now);
  // The worker is lost. Its evaluation leases go back to the table at once. Its
  // training leases stay open until Fenced, since only the parameter servers
  // know what they have applied.
  void WorkerLost(TaskId worker);
  absl::Status Fenced(TaskId worker, absl::Span<const LeaseReport> records,
                      absl::Time now);

  // See CallbackFlow::Answered.
  void CommandEnded(const RunCommand& run,
                    const absl::StatusOr<std::string>& output, absl::Time now);

  void SnapshotTaken(absl::Time now);
  // The order of the last ChangeVariables was carried out.
  void VariablesChanged(absl::Time now);
  // Returns the error if this was the last checkpoint of the job, or is kept.
  absl::Status CheckpointWritten(const absl::Status& status, absl::Time now);

  // Hands out no more leases. Takes a checkpoint of what was trained, if the
  // job takes some and is training; then it has ended early.
  void EndEarly(absl::Time now);
  bool has_ended_early() const;

  // Why the job cannot go on.
  const absl::Status& failure() const { return callbacks_.failure(); }

  bool started() const { return stage_ != Stage::kWaiting; }
  // Whether the job is done and its last checkpoint is written.
  bool done() const { return stage_ == Stage::kDone; }
  // Whether the job cannot go on before the holders of the variables have taken
  // or written a checkpoint.
  bool AwaitsCheckpoint() const {
    return stage_ == Stage::kCheckpoint || stage_ == Stage::kFinishing;
  }
  // The number of a training step: its epoch, from 0, and its number in the
  // job, from 1, in the order of the data.
  struct StepNumber {
    int epoch = 0;
    int64_t step = 0;
  };
  // The number of step `step` (from 1) of a training lease. nullopt: the worker
  // has no such lease.
  std::optional<StepNumber> NumberOf(TaskId worker, uint64_t lease_id,
                                     int64_t step) const;
  bool Holds(TaskId worker) const { return table_ && table_->Holds(worker); }
  // The workers that have open leases.
  std::vector<TaskId> Holders() const {
    return table_ ? table_->Holders() : std::vector<TaskId>();
  }
  // The loss and the metrics of the job.
  const std::vector<LoggedMetric>& metrics() const { return metrics_; }
  // Training steps that earlier runs of the job took.
  int64_t first_step() const { return restored_ ? restored_->steps : 0; }
  // Training steps of the job that were leased so far, finished or not.
  int64_t StepsLeased() const;

  ProgressView Progress() const;
  const std::vector<EpochRecord>& history() const { return history_; }
  // The actions since the last call, in order.
  std::vector<Action> TakeActions();

  // Internal, naming the broken invariant, unless the pass keeps its own
  // invariants (LeaseTable::CheckInvariants), and:
  //  * Each stage has its own kind of pass. No lease is open between two passes
  //    or while a checkpoint is taken.
  //  * A training pass has the examples of an epoch.
  //  * No lease extends beyond the step of the next checkpoint, nor beyond that
  //    of the next file of the model that a callback asks for, unless it is the
  //    only one and has a single step: see StepsToSave.
  //  * The history has every finished epoch since the first one.
  //  * An order is awaited only after the training of an epoch, or after all of
  //    it and then while no checkpoint is under way.
  //  * Averages are in the place of the variables only around a validation.
  //  * A checkpoint whose snapshot is awaited is also still to be written. No
  //    checkpoint is under way at the end of the job.
  // For tests; takes time in proportion to the open leases.
  absl::Status CheckInvariants() const;

 private:
  enum class Stage {
    kWaiting,
    // With connects_only: the workers connect with each other, and the job
    // ends.
    kConnecting,
    kTraining,
    // A checkpoint is due: waits until the previous one is written, then until
    // the snapshot is taken.
    kCheckpoint,
    // Waits until the variables and their averages have changed places, before
    // or after a validation.
    kSwapping,
    kValidating,
    // An epoch has ended: waits for the programs of callbacks.
    kEpochEnded,
    // The last epoch has ended: waits until the last checkpoint is written,
    // then until the variables that were kept are loaded.
    kRestoring,
    kTesting,
    // Waits until the last checkpoint is written, and for the programs of
    // callbacks.
    kFinishing,
    kDone,
  };

  JobFlow() = default;

  // Moves through the stages until one has to wait.
  void Advance(absl::Time now);
  void AdvanceTraining(absl::Time now);
  void AdvanceCheckpoint(absl::Time now);
  void AdvanceSwapping();
  void AdvanceRestoring();
  void AdvanceEvaluation(absl::Time now);

  void BeginEpoch(const SavedSession& from, absl::Time now);
  void BeginEvaluation(v1::Phase phase, int64_t examples);
  void BeginValidation();
  // Issues a Notice if the run, which resumes, trains nothing, since a callback
  // ended training in an earlier one.
  void NoteStopped();
  // The variables and their averages have changed places.
  void AveragesSwapped(absl::Time now);
  void EndTraining(absl::Time now);
  void EndEpoch(absl::Time now);
  // Goes on once callbacks have decided.
  void LeaveEpoch(absl::Time now);
  void OrderChange(v1::VariablesOrder::Kind kind);
  // Starts what follows an epoch and its checkpoint: the next epoch, or once
  // the model has the variables that were kept, the test set, or the end.
  void BeginNext(absl::Time now);

  LeaseTable::Options PassOptions(v1::Phase phase) const;
  // Whether the steps since the last checkpoint are to be saved early.
  bool EarlyCheckpointDue() const;
  // The state to resume from. Call it only while no lease is open.
  SavedSession Save(absl::Time now) const;
  // The state at the start of epoch_.
  SavedSession StartOfEpoch() const;
  bool CheckpointDueAfterEpoch() const;
  // Steps that may be leased before the next checkpoint is due.
  int64_t StepsToCheckpoint() const;
  // Steps that may be leased before a callback asks for a file of the model; at
  // least one more if it has not heard of steps whose values were lost with
  // their worker.
  int64_t StepsToSave() const;
  // Steps that may be leased now.
  int64_t StepsToLease() const;
  // Whether a callback has ended training within this epoch, and its open
  // leases are done.
  bool IsCutShort() const;
  // Whether a validation follows the current epoch.
  bool ValidatesNext() const {
    return sizes_.validation > 0 && validation_.Follows(epoch_);
  }
  bool AllEpochsDone() const {
    return callbacks_.stopped() || epoch_ >= epochs_;
  }
  // Whether the variables that were kept are still to be loaded when training
  // ends.
  bool LoadsKept() const { return callbacks_.RestoresKept() && !has_kept_; }
  // The values of the job's first `metrics.size()` metrics. Empty before the
  // first example.
  static Logs ValuesOf(const PassTotals& totals,
                       absl::Span<const LoggedMetric> metrics);
  // The progress of the current pass, with these totals.
  ProgressView ViewOf(const PassTotals& totals) const;
  // Whether the current pass is of the kind that the stage needs.
  bool PassFitsStage() const;
  // Tells callbacks of the steps of training, or of a validation, that were
  // reported, and that further ones are under way. If workers take each step
  // together, it is reported once all of them have.
  void TellProgress(absl::Time now);
  // Tells them that such steps were handed out.
  void TellBegun();
  // Issues a Notice if the loss of an evaluation is not finite, once per job.
  void NoteEvaluation(const Logs& logs);
  // Issues a Notice if `on_error: skip` left examples out of a pass.
  void NoteSkipped(absl::string_view pass, int64_t skipped, int64_t examples);

  // The loss and the metrics of the job.
  std::vector<LoggedMetric> metrics_;
  int epochs_ = 1;
  // The first epoch of the history.
  int first_epoch_ = 0;
  ValidationSchedule validation_;
  // Examples in a global training step, and in an evaluation step.
  int64_t step_batch_size_ = 1;
  int64_t steps_per_execution_ = 1;
  int64_t worker_batch_size_ = 1;
  // See the function OrderReplicas.
  int order_replicas_ = 0;
  // See SavedSession.
  std::string shuffle_;
  // How many workers share each training lease.
  int workers_per_lease_ = 1;
  int64_t steps_per_epoch_ = 0;
  bool connects_only_ = false;
  bool evaluate_only_ = false;
  std::optional<SavedSession> restored_;
  DataSizes sizes_;
  // Positions in the order of an epoch.
  int64_t epoch_examples_ = 0;

  Stage stage_ = Stage::kWaiting;
  int epoch_ = 0;
  // Steps of all epochs before this one.
  int64_t steps_before_epoch_ = 0;
  // The current pass; nullopt between passes.
  std::optional<LeaseTable> table_;
  uint64_t next_lease_id_ = 1;
  // When training of this epoch began. After a resume: the time at which it
  // would have begun without the interruption.
  absl::Time epoch_began_;
  // Whether an earlier run has told callbacks that this epoch began.
  bool told_of_epoch_ = false;
  // The epoch under validation.
  EpochRecord record_;
  std::vector<EpochRecord> history_;

  // Orders so far, and whether the last one is awaited. Whether averages are in
  // the place of the variables. Whether training is over and the model has the
  // variables that were kept.
  uint64_t order_count_ = 0;
  bool awaits_order_ = false;
  bool has_averages_ = false;
  bool has_kept_ = false;
  bool ends_early_ = false;
  bool has_told_of_evaluation_ = false;

  CheckpointFlow checkpoints_;
  CallbackFlow callbacks_;
  std::vector<Action> actions_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_JOB_FLOW_H_
