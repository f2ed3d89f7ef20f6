#include "common/session/machine/job_flow.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/job_model.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {

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
  flow.checkpoints_ = CheckpointFlow(job);
  flow.callbacks_ = CallbackFlow(options, world_size);
  flow.worker_batch_size_ = WorkerBatchSize(job, world_size);
  flow.step_batch_size_ = StepBatchSize(job, world_size);
  flow.order_replicas_ = OrderReplicas(job, world_size);
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

void JobFlow::EndEarly(absl::Time now) {
  ends_early_ = true;
  Advance(now);
}

bool JobFlow::has_ended_early() const {
  if (!ends_early_) return false;
  switch (stage_) {
    case Stage::kTraining:
      return !checkpoints_.is_writing() && !EarlyCheckpointDue() &&
             (!checkpoints_.has_policy() || !table_->HasOpenLeases());
    case Stage::kCheckpoint:
    case Stage::kFinishing:
    case Stage::kDone:
      return false;
    case Stage::kEpochEnded:
      return !checkpoints_.has_policy() && !callbacks_.awaits_checkpoint();
    case Stage::kRestoring:
      // The last checkpoint follows.
      return !checkpoints_.has_policy() && !checkpoints_.is_writing();
    default:
      return !checkpoints_.is_writing();
  }
}

bool JobFlow::EarlyCheckpointDue() const {
  return ends_early_ && (checkpoints_.IsBehind(StepsLeased()) ||
                         callbacks_.awaits_checkpoint());
}

std::optional<v1::Lease> JobFlow::Grant(TaskId worker, int live_workers) {
  if (callbacks_.HoldsLeases()) return std::nullopt;
  switch (stage_) {
    case Stage::kTraining:
      // Workers that share a lease need each other to finish it, so they join
      // open ones also if the job ends early.
      return table_->Grant(worker, live_workers,
                           ends_early_ ? 0 : StepsToLease(),
                           callbacks_.learning_rate());
    case Stage::kValidating:
    case Stage::kTesting:
      if (ends_early_) return std::nullopt;
      return table_->Grant(worker, live_workers,
                           std::numeric_limits<int64_t>::max());
    default:
      return std::nullopt;
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

void JobFlow::AveragesSwapped(absl::Time now) {
  has_averages_ = !has_averages_;
  if (has_averages_) {
    BeginValidation();
  } else {
    EndEpoch(now);
  }
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

void JobFlow::NoteEvaluation(const Logs& logs) {
  if (logs.empty() || std::isfinite(logs.front().second) ||
      std::exchange(has_told_of_evaluation_, true)) {
    return;
  }
  actions_.push_back(Notice{absl::StrCat(
      "the loss of data.",
      stage_ == Stage::kTesting
          ? "test"
          : absl::StrCat("validation in epoch ", epoch_ + 1),
      " is not finite (", NonfiniteName(logs.front().second), ")")});
}

void JobFlow::NoteSkipped(absl::string_view pass, int64_t skipped,
                          int64_t examples) {
  if (skipped == 0) return;
  actions_.push_back(Notice{absl::StrCat(pass, ": ", skipped, " of ", examples,
                                         " examples left out "
                                         "(on_error: skip)")});
}

ProgressView JobFlow::Progress() const {
  ProgressView view;
  view.epoch = epoch_;
  if (!table_) return view;
  view.phase = table_->phase();
  const PassTotals totals = table_->Totals();
  view.steps_done = totals.steps;
  view.steps_total = table_->steps_total();
  // There are no sums before the first example, or if all counted examples are
  // those of lost workers that had not reported their sums.
  if (!totals.has_sums()) return view;
  // If the states are large, reports of open leases carry only the loss.
  const bool has_all = ReportedSize(metrics_) == StateSize(metrics_);
  view.logs = Values(
      absl::MakeConstSpan(metrics_).first(has_all ? metrics_.size() : 1));
  return view;
}

void JobFlow::TellProgress(absl::Time now) {
  if (stage_ != Stage::kTraining || !callbacks_.hears_batches()) return;
  ProgressView progress = Progress();
  // A file that is due at this step has the values of all workers of it, and
  // those with large states, which come once the leases are done.
  if (table_->HasOpenLeases() &&
      callbacks_.StepsToSave(progress.steps_done) <= 0) {
    return;
  }
  // Reports of leases that are done have all states.
  if (!progress.logs.empty() && !table_->HasOpenLeases()) {
    progress.logs = Values(metrics_);
  }
  callbacks_.Progressed(progress, steps_before_epoch_ + progress.steps_done,
                        now, actions_);
}

std::vector<Action> JobFlow::TakeActions() {
  return std::exchange(actions_, {});
}

void JobFlow::Advance(absl::Time now) {
  Stage before;
  do {
    before = stage_;
    switch (stage_) {
      case Stage::kTraining:
        AdvanceTraining(now);
        break;
      case Stage::kCheckpoint:
        AdvanceCheckpoint(now);
        break;
      case Stage::kSwapping:
        AdvanceSwapping();
        break;
      case Stage::kValidating:
      case Stage::kTesting:
        AdvanceEvaluation(now);
        break;
      case Stage::kEpochEnded:
        if (!callbacks_.AwaitsAnswers()) LeaveEpoch(now);
        break;
      case Stage::kRestoring:
        AdvanceRestoring();
        break;
      case Stage::kFinishing:
        if (!checkpoints_.is_writing() && !callbacks_.AwaitsAnswers()) {
          stage_ = Stage::kDone;
        }
        break;
      case Stage::kWaiting:
      case Stage::kConnecting:
      case Stage::kDone:
        break;
    }
  } while (stage_ != before);
}

void JobFlow::AdvanceTraining(absl::Time now) {
  // An epoch whose validation would not end is saved before it.
  const bool is_saved_first = EarlyCheckpointDue() && ValidatesNext();
  if ((table_->Done() || IsCutShort()) && !is_saved_first) {
    EndTraining(now);
  } else if (!table_->HasOpenLeases() &&
             (StepsToCheckpoint() <= 0 || EarlyCheckpointDue() ||
              callbacks_.awaits_checkpoint()) &&
             // A checkpoint does not have what a program has not answered.
             !callbacks_.HoldsLeases()) {
    stage_ = Stage::kCheckpoint;
  }
}

void JobFlow::AdvanceCheckpoint(absl::Time now) {
  if (checkpoints_.is_writing()) return;
  const bool training_ended = !table_ && AllEpochsDone();
  has_kept_ |= training_ended && callbacks_.keeps_model();
  SavedSession saved = Save(now);
  saved.is_final = training_ended && !LoadsKept();
  const bool is_kept = callbacks_.TakeKeepsModel();
  checkpoints_.Take(saved, callbacks_.TakeSaves(), is_kept, actions_);
}

void JobFlow::AdvanceSwapping() {
  if (awaits_order_ || ends_early_) return;
  OrderChange(v1::VariablesOrder::KIND_SWAP_AVERAGES);
}

void JobFlow::AdvanceRestoring() {
  // The checkpoint under way may be the one to load.
  if (awaits_order_ || checkpoints_.is_writing()) return;
  OrderChange(v1::VariablesOrder::KIND_LOAD);
}

void JobFlow::OrderChange(v1::VariablesOrder::Kind kind) {
  awaits_order_ = true;
  v1::VariablesOrder order;
  order.set_number(++order_count_);
  order.set_kind(kind);
  actions_.emplace_back(ChangeVariables{std::move(order)});
}

void JobFlow::AdvanceEvaluation(absl::Time now) {
  if (!table_->Done()) return;
  Logs logs = Values(metrics_);
  NoteEvaluation(logs);
  const PassTotals totals = table_->Totals();
  next_lease_id_ = table_->next_lease_id();
  table_.reset();
  if (stage_ == Stage::kTesting) {
    actions_.push_back(TestEnded{totals.steps, std::move(logs)});
    NoteSkipped("data.test", totals.skipped_examples, sizes_.test);
    stage_ = Stage::kFinishing;
    return;
  }
  callbacks_.ValidationEnded(epoch_, logs, actions_);
  for (auto& [name, value] : logs) {
    record_.validation_logs.emplace_back(absl::StrCat("val_", name), value);
  }
  record_.skipped_validation_examples = totals.skipped_examples;
  if (has_averages_) {
    stage_ = Stage::kSwapping;
  } else {
    EndEpoch(now);
  }
}

void JobFlow::BeginEpoch(const SavedSession& from, absl::Time now) {
  stage_ = Stage::kTraining;
  epoch_began_ = now - absl::Seconds(from.seconds);
  table_.emplace(PassOptions(v1::PHASE_TRAIN), from.remaining, from.counted);
  const bool was_told = std::exchange(told_of_epoch_, false);
  if (from.counted.examples == 0 && !was_told) {
    callbacks_.EpochBegan(epoch_, from.steps, now, actions_);
  } else {
    callbacks_.GoesOn(epoch_, from.counted.steps, now);
  }
  actions_.push_back(EpochBegan{epoch_, from.counted.steps});
}

void JobFlow::BeginEvaluation(v1::Phase phase, int64_t examples) {
  stage_ = phase == v1::PHASE_TEST ? Stage::kTesting : Stage::kValidating;
  const ExampleRange all = {0, examples};
  table_.emplace(PassOptions(phase), absl::MakeConstSpan(&all, 1),
                 PassTotals());
  if (phase == v1::PHASE_TEST) actions_.push_back(TestBegan{});
}

void JobFlow::EndTraining(absl::Time now) {
  const PassTotals totals = table_->Totals();
  steps_before_epoch_ += totals.steps;
  record_ = EpochRecord();
  record_.epoch = epoch_;
  record_.logs = Values(metrics_);
  record_.learning_rate = callbacks_.RateAfter(steps_before_epoch_);
  record_.steps = totals.steps;
  record_.examples = totals.examples;
  record_.skipped_examples = totals.skipped_examples;
  record_.seconds = absl::ToDoubleSeconds(now - epoch_began_);
  next_lease_id_ = table_->next_lease_id();
  table_.reset();
  if (!ValidatesNext()) return EndEpoch(now);
  callbacks_.ValidationBegan(epoch_, actions_);
  if (callbacks_.swaps_averages()) {
    stage_ = Stage::kSwapping;
  } else {
    BeginValidation();
  }
}

void JobFlow::BeginValidation() {
  BeginEvaluation(v1::PHASE_VALIDATION, sizes_.validation);
}

void JobFlow::EndEpoch(absl::Time now) {
  history_.push_back(record_);
  callbacks_.EpochEnded(record_, now - epoch_began_, steps_before_epoch_,
                        actions_);
  ++epoch_;
  stage_ = Stage::kEpochEnded;
}

void JobFlow::LeaveEpoch(absl::Time now) {
  actions_.push_back(EpochEnded{record_});
  const std::string name = absl::StrCat("epoch ", record_.epoch + 1);
  NoteSkipped(name, record_.skipped_examples, record_.examples);
  NoteSkipped(absl::StrCat(name, ", validation"),
              record_.skipped_validation_examples, sizes_.validation);
  // The last checkpoint follows when the variables that were kept are loaded;
  // files of models have those of this epoch.
  const bool loads_first = AllEpochsDone() && callbacks_.RestoresKept() &&
                           !callbacks_.awaits_checkpoint();
  if (!loads_first && CheckpointDueAfterEpoch()) {
    stage_ = Stage::kCheckpoint;
  } else {
    BeginNext(now);
  }
}

void JobFlow::BeginNext(absl::Time now) {
  if (!AllEpochsDone()) {
    BeginEpoch(StartOfEpoch(), now);
    return;
  }
  if (LoadsKept()) {
    stage_ = Stage::kRestoring;
    return;
  }
  callbacks_.TrainingEnded(actions_);
  if (sizes_.test > 0) {
    BeginEvaluation(v1::PHASE_TEST, sizes_.test);
  } else {
    stage_ = Stage::kFinishing;
  }
}

LeaseTable::Options JobFlow::PassOptions(v1::Phase phase) const {
  LeaseTable::Options options;
  options.phase = phase;
  options.epoch = epoch_;
  const bool training = phase == v1::PHASE_TRAIN;
  options.batch_size = training ? step_batch_size_ : worker_batch_size_;
  options.batches_at_once = training ? steps_per_execution_ : 1;
  options.workers_per_lease = training ? workers_per_lease_ : 1;
  options.state_size = StateSize(metrics_);
  options.first_lease_id = next_lease_id_;
  return options;
}

SavedSession JobFlow::Save(absl::Time now) const {
  SavedSession saved = StartOfEpoch();
  callbacks_.Save(saved);
  if (!table_) return saved;
  saved.begun = true;
  saved.remaining = table_->Remaining();
  saved.counted = table_->Totals();
  saved.steps += saved.counted.steps;
  saved.next_lease_id = table_->next_lease_id();
  saved.seconds = absl::ToDoubleSeconds(now - epoch_began_);
  return saved;
}

SavedSession JobFlow::StartOfEpoch() const {
  SavedSession saved;
  saved.first_epoch = first_epoch_;
  saved.epoch = epoch_;
  saved.steps = steps_before_epoch_;
  saved.next_lease_id = next_lease_id_;
  saved.epoch_examples = epoch_examples_;
  saved.order_replicas = order_replicas_;
  saved.round_examples = sizes_.train;
  saved.remaining = {{0, epoch_examples_}};
  saved.counted.states.resize(StateSize(metrics_));
  saved.has_kept = has_kept_;
  saved.history = history_;
  return saved;
}

bool JobFlow::CheckpointDueAfterEpoch() const {
  if (callbacks_.awaits_checkpoint()) return true;
  if (AllEpochsDone() || ends_early_) return checkpoints_.has_policy();
  return callbacks_.keeps_model() ||
         checkpoints_.IsDueAfter(epoch_, StepsLeased());
}

int64_t JobFlow::StepsToCheckpoint() const {
  return checkpoints_.StepsToNext(StepsLeased());
}

int64_t JobFlow::StepsToSave() const {
  const int64_t steps =
      callbacks_.StepsToSave(StepsLeased() - steps_before_epoch_);
  // Nothing is told of steps whose values are lost with their worker.
  return table_->HasOpenLeases() ? steps : std::max<int64_t>(steps, 1);
}

int64_t JobFlow::StepsToLease() const {
  // The file is of the model after the steps that were leased so far.
  if (callbacks_.awaits_checkpoint()) return 0;
  const int64_t most = std::min(StepsToCheckpoint(), StepsToSave());
  if (!callbacks_.stopped()) return most;
  // As Keras, which sees the stop after a batch. So an epoch has values.
  const int64_t least = StepsLeased() == steps_before_epoch_ ? 1 : 0;
  return std::min(most, least);
}

bool JobFlow::IsCutShort() const {
  return callbacks_.stopped() && !table_->HasOpenLeases() &&
         table_->Totals().steps > 0;
}

int64_t JobFlow::StepsLeased() const {
  if (!table_ || table_->phase() != v1::PHASE_TRAIN) return steps_before_epoch_;
  return steps_before_epoch_ + table_->Totals().steps + table_->OpenSteps();
}

Logs JobFlow::Values(absl::Span<const LoggedMetric> metrics) const {
  const PassTotals totals = table_->Totals();
  if (totals.examples == 0) return {};
  return ResultsOf(
      metrics, absl::MakeConstSpan(totals.states).first(StateSize(metrics)));
}

}  // namespace paceline
