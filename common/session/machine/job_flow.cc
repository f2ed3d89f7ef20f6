#include "common/session/machine/job_flow.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/job_model.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {

namespace {

// "by seed 7"; see SavedSession.
std::string ShuffleOf(const v1::Job& job) {
  const v1::Dataset& train = job.data().train();
  if (!train.shuffle()) return "not at all";
  std::string text = absl::StrCat("by seed ", job.seed());
  if (train.shuffle_buffer_size() > 0) {
    absl::StrAppend(&text, " in a buffer of ", train.shuffle_buffer_size());
  }
  return text;
}

}  // namespace

absl::StatusOr<JobFlow> JobFlow::Create(const SessionOptions& options,
                                        int world_size) {
  const v1::Job& job = options.job;
  JobFlow flow;
  flow.metrics_ = options.metrics;
  flow.connects_only_ = options.connects_only;
  flow.evaluate_only_ = !options.evaluate_checkpoint.empty();
  flow.epochs_ = std::max<int>(job.epochs(), 1);
  flow.first_epoch_ = static_cast<int>(job.initial_epoch());
  flow.steps_per_epoch_ = static_cast<int64_t>(job.steps_per_epoch());
  flow.checkpoints_ = CheckpointFlow(job, options.variables_only);
  flow.callbacks_ = CallbackFlow(options, world_size);
  flow.worker_batch_size_ = WorkerBatchSize(job, world_size);
  flow.step_batch_size_ = StepBatchSize(job, world_size);
  flow.order_replicas_ = OrderReplicas(job, world_size);
  flow.shuffle_ = ShuffleOf(job);
  flow.steps_per_execution_ = std::max<int>(job.steps_per_execution(), 1);
  if (IsSynchronous(job)) flow.workers_per_lease_ = world_size;
  if (flow.worker_batch_size_ < 1) {
    return absl::InvalidArgumentError("the job has no batch size");
  }
  flow.validation_ = ValidationSchedule(job, flow.step_batch_size_);
  const int64_t most_steps = limits::kMaxExamples / flow.step_batch_size_;
  if (job.steps_per_epoch() > static_cast<uint64_t>(most_steps)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "steps_per_epoch: ", job.steps_per_epoch(), "; expected at most ",
        most_steps, " in steps of ", flow.step_batch_size_, " examples"));
  }
  if (!flow.evaluate_only_ && !options.learning_rate) {
    return absl::InvalidArgumentError("training needs a learning rate");
  }
  if (options.restore != nullptr) {
    absl::StatusOr<SavedSession> saved = SavedSessionFromJson(*options.restore);
    if (!saved.ok()) {
      return Annotate(
          saved.status(),
          absl::StrCat("cannot use ", options.restore_path, "/manifest.json"));
    }
    flow.restored_ = *std::move(saved);
    flow.first_epoch_ = flow.restored_->first_epoch;
    // The history stays in result.json even if this run fails before its first
    // epoch ends.
    flow.history_ = std::move(flow.restored_->history);
    const size_t size = flow.restored_->counted.states.size();
    if (size != StateSize(flow.metrics_)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the checkpoint has ", size,
                       " numbers of the loss and the metrics; the job has ",
                       StateSize(flow.metrics_)));
    }
    const absl::Status restored = flow.callbacks_.Restore(*flow.restored_);
    if (!restored.ok()) {
      return Annotate(
          restored,
          absl::IsDataLoss(restored)
              ? absl::StrCat("cannot use ", options.restore_path,
                             "/manifest.json")
              : absl::StrCat("cannot resume from ", options.restore_path));
    }
  }
  return flow;
}

absl::Status JobFlow::Start(const DataSizes& sizes, absl::Time now) {
  CHECK(!started());
  sizes_ = sizes;
  if (connects_only_) {
    stage_ = Stage::kConnecting;
    return absl::OkStatus();
  }
  if (evaluate_only_) {
    if (sizes.test == 0) {
      return absl::InvalidArgumentError(
          "data.test has no examples to evaluate");
    }
    BeginEvaluation(v1::PHASE_TEST, sizes.test);
    return absl::OkStatus();
  }
  if (sizes.train == 0) {
    return absl::InvalidArgumentError("data.train has no examples");
  }
  epoch_examples_ =
      steps_per_epoch_ > 0 ? steps_per_epoch_ * step_batch_size_ : sizes.train;
  sizes_.validation = validation_.Examples(sizes.validation);
  callbacks_.TrainingBegan(actions_);
  if (!restored_) {
    epoch_ = first_epoch_;
    BeginEpoch(StartOfEpoch(), now);
    return absl::OkStatus();
  }
  epoch_ = restored_->epoch;
  steps_before_epoch_ = restored_->steps - restored_->counted.steps;
  next_lease_id_ = restored_->next_lease_id;
  checkpoints_.GoOnFrom(restored_->steps);
  RETURN_IF_ERROR(CheckGoesOn(*restored_, StartOfEpoch(), epochs_));
  NoteStopped();
  if (restored_->counted.examples == 0) {
    told_of_epoch_ = restored_->begun;
    has_kept_ = restored_->has_kept && AllEpochsDone();
    BeginNext(now);
    Advance(now);
    return absl::OkStatus();
  }
  BeginEpoch(*restored_, now);
  // Its training may be done; its validation is not.
  Advance(now);
  return absl::OkStatus();
}

std::optional<v1::Lease> JobFlow::Grant(TaskId worker, int live_workers) {
  if (callbacks_.HoldsLeases()) return std::nullopt;
  std::optional<v1::Lease> lease;
  switch (stage_) {
    case Stage::kTraining:
      // Workers that share a lease need each other to finish it, so they join
      // open ones also if the job ends early.
      lease =
          table_->Grant(worker, live_workers, ends_early_ ? 0 : StepsToLease(),
                        callbacks_.learning_rate());
      break;
    case Stage::kValidating:
    case Stage::kTesting:
      if (ends_early_) return std::nullopt;
      lease = table_->Grant(worker, live_workers,
                            std::numeric_limits<int64_t>::max());
      break;
    default:
      break;
  }
  if (lease) TellBegun();
  return lease;
}

void JobFlow::TellBegun() {
  if (stage_ == Stage::kTraining) {
    callbacks_.BatchesBegan(steps_before_epoch_, actions_);
  } else if (stage_ == Stage::kValidating) {
    callbacks_.ValidationBatchesBegan(actions_);
  }
}

absl::StatusOr<bool> JobFlow::Report(TaskId worker, const LeaseReport& report,
                                     absl::Time now) {
  if (!table_) return false;
  ASSIGN_OR_RETURN(const bool finished, table_->Report(worker, report));
  TellProgress(now);
  if (finished) Advance(now);
  return finished;
}

void JobFlow::WorkerLost(TaskId worker) {
  if (stage_ == Stage::kValidating || stage_ == Stage::kTesting) {
    table_->ReturnWhole(worker);
  }
}

absl::Status JobFlow::Fenced(TaskId worker,
                             absl::Span<const LeaseReport> records,
                             absl::Time now) {
  if (stage_ == Stage::kTraining) {
    RETURN_IF_ERROR(table_->ReturnRest(worker, records));
    TellProgress(now);
    Advance(now);
  }
  return absl::OkStatus();
}

void JobFlow::CommandEnded(const RunCommand& run,
                           const absl::StatusOr<std::string>& output,
                           absl::Time now) {
  callbacks_.Answered(run, output, actions_);
  if (failure().ok()) Advance(now);
}

void JobFlow::SnapshotTaken(absl::Time now) {
  if (!checkpoints_.SnapshotTaken()) return;
  if (table_) {
    stage_ = Stage::kTraining;
  } else {
    BeginNext(now);
  }
  Advance(now);
}

void JobFlow::VariablesChanged(absl::Time now) {
  if (!std::exchange(awaits_order_, false)) return;
  if (stage_ == Stage::kSwapping) {
    AveragesSwapped(now);
  } else {
    has_kept_ = true;
    if (checkpoints_.has_policy()) {
      stage_ = Stage::kCheckpoint;
    } else {
      BeginNext(now);
    }
  }
  Advance(now);
}

absl::Status JobFlow::CheckpointWritten(const absl::Status& status,
                                        absl::Time now) {
  if (!checkpoints_.is_writing()) return absl::OkStatus();
  RETURN_IF_ERROR(checkpoints_.Written(status, actions_));
  Advance(now);
  return absl::OkStatus();
}

std::optional<JobFlow::StepNumber> JobFlow::NumberOf(TaskId worker,
                                                     uint64_t lease_id,
                                                     int64_t step) const {
  if (!table_ || table_->phase() != v1::PHASE_TRAIN) return std::nullopt;
  const v1::Lease* const lease = table_->Find(worker, lease_id);
  if (lease == nullptr) return std::nullopt;
  const int64_t before =
      static_cast<int64_t>(lease->begin()) / step_batch_size_;
  return StepNumber{epoch_, steps_before_epoch_ + before + step};
}

ProgressView JobFlow::Progress() const {
  if (table_) return ViewOf(table_->Totals());
  ProgressView view;
  view.epoch = epoch_;
  return view;
}

ProgressView JobFlow::ViewOf(const PassTotals& totals) const {
  ProgressView view;
  view.epoch = epoch_;
  view.phase = table_->phase();
  view.steps_done = totals.steps;
  view.steps_total = table_->steps_total();
  // There are no sums before the first example, or if all counted examples are
  // those of lost workers that had not reported their sums.
  if (!totals.has_sums()) return view;
  // If the states are large, reports of open leases carry only the loss.
  const bool has_all = ReportedSize(metrics_) == StateSize(metrics_);
  view.logs = ValuesOf(totals, absl::MakeConstSpan(metrics_).first(
                                   has_all ? metrics_.size() : 1));
  return view;
}

void JobFlow::TellProgress(absl::Time now) {
  const bool is_training = stage_ == Stage::kTraining;
  const bool is_validating = stage_ == Stage::kValidating;
  if (!(is_training && callbacks_.hears_batches()) &&
      !(is_validating && callbacks_.hears_validation_batches())) {
    return;
  }
  const PassTotals totals = table_->CommonTotals();
  ProgressView progress = ViewOf(totals);
  // A file that is due at this step has the values of all workers of it, and
  // those with large states, which come once the leases are done.
  if (is_training && table_->HasOpenLeases() &&
      callbacks_.StepsToSave(progress.steps_done) <= 0) {
    return;
  }
  // Reports of leases that are done have all states.
  if (!progress.logs.empty() && totals.steps == table_->steps_settled()) {
    progress.logs = ValuesOf(totals, metrics_);
  }
  if (is_training) {
    callbacks_.Progressed(progress, steps_before_epoch_ + progress.steps_done,
                          now, actions_);
  } else {
    callbacks_.ValidationProgressed(progress, actions_);
  }
  // Of the steps that are leased, some are not told of.
  const int64_t leased = table_->Totals().steps + table_->OpenSteps();
  if (totals.steps < leased) TellBegun();
}

std::vector<Action> JobFlow::TakeActions() {
  return std::exchange(actions_, {});
}

int64_t JobFlow::StepsLeased() const {
  if (!table_ || table_->phase() != v1::PHASE_TRAIN) return steps_before_epoch_;
  return steps_before_epoch_ + table_->Totals().steps + table_->OpenSteps();
}

Logs JobFlow::ValuesOf(const PassTotals& totals,
                       absl::Span<const LoggedMetric> metrics) {
  if (totals.examples == 0) return {};
  return ResultsOf(
      metrics, absl::MakeConstSpan(totals.states).first(StateSize(metrics)));
}

}  // namespace paceline
