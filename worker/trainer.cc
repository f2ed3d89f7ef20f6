#include "worker/trainer.h"

#include <cstring>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "worker/training_step.h"

namespace paceline {
namespace {

// Waits for a batch wake up at this interval; the lease source has deadlines.
constexpr absl::Duration kBatchWaitSlice = absl::Seconds(1);

// Steps between two readings of the device's sums, if the host need not wait
// for each step. A reading costs about as much as a launch, and moves the
// progress bar. The interval is in steps, not in time, so that all replicas
// report the same steps.
constexpr int kReadingInterval = 32;

uint64_t ReadingInterval(const TrainerParts& parts, bool log_steps) {
  if (parts.state->device_updates() == nullptr || log_steps) return 1;
  // A reading flushes steps that the device has collected for one launch, so
  // the interval must be a multiple of steps_per_execution.
  const int steps = parts.steps_per_execution;
  return (kReadingInterval + steps - 1) / steps * steps;
}

std::optional<double> RateOf(const v1::Lease& lease) {
  return lease.has_learning_rate() ? std::optional(lease.learning_rate())
                                   : std::nullopt;
}

// Reuses the memory of `tensors`.
void SetTensors(const std::vector<PreparedArray>& arrays,
                std::vector<HostTensor>& tensors) {
  tensors.clear();
  for (const PreparedArray& array : arrays) {
    tensors.push_back({array.type, array.data});
  }
}

void SetExamples(const PreparedBatch& last, v1::LeaseReport& report) {
  report.set_examples(static_cast<uint64_t>(last.done_of_lease));
  report.set_skipped_examples(static_cast<uint64_t>(last.skipped_of_lease));
}

}  // namespace

Trainer::Trainer(const TrainerParts& parts, const MetricLayout& layout,
                 bool log_steps)
    : parts_(parts),
      log_steps_(log_steps),
      reported_size_(layout.reported_size()),
      reading_interval_(ReadingInterval(parts, log_steps)) {
  sums_.states.resize(layout.size());
  read_.states.resize(layout.size());
}

absl::Status Trainer::Run() {
  while (true) {
    const bool is_in_lease = phase_ == v1::PHASE_TRAIN && !ends_lease_;
    if (!is_in_lease && Leaves()) return absl::OkStatus();
    if (parts_.trace != nullptr) parts_.trace->Waits();
    ASSIGN_OR_RETURN(const PreparedBatch* prepared,
                     parts_.pipeline->Next(kBatchWaitSlice));
    if (prepared == nullptr) {
      if (parts_.pipeline->has_ended()) return absl::OkStatus();
      continue;
    }
    RETURN_IF_ERROR(RunBatch(*prepared));
    parts_.pipeline->Release(prepared);
  }
}

void Trainer::ShowBatch(const PreparedBatch& prepared) {
  const v1::Lease& lease = prepared.lease;
  if (lease.phase() != v1::PHASE_TRAIN) {
    if (parts_.trace != nullptr) parts_.trace->BeginOther();
    return;
  }
  const int64_t epoch = int64_t{lease.epoch()} - parts_.first_epoch;
  const int64_t step = epoch * prepared.epoch_steps + prepared.epoch_step + 1;
  if (parts_.trace != nullptr) parts_.trace->BeginStep(step);
  const bool has_first_example =
      prepared.count > 0 &&
      prepared.begin == static_cast<int64_t>(lease.begin());
  if (step == 1 && has_first_example && parts_.on_first_batch != nullptr) {
    parts_.on_first_batch(prepared);
  }
}

absl::Status Trainer::RunBatch(const PreparedBatch& prepared) {
  ShowBatch(prepared);
  const v1::Lease& lease = prepared.lease;
  if (lease.phase() != phase_ || lease.epoch() != epoch_) {
    // Other workers may have trained since this worker's last push.
    RETURN_IF_ERROR(parts_.strategy->PullVariables());
    phase_ = lease.phase();
    epoch_ = lease.epoch();
  }
  const bool training = phase_ == v1::PHASE_TRAIN;
  ends_lease_ = prepared.ends_lease || (training && Leaves());
  if (lease.id() != progress_.lease().lease_id()) {
    StartLease(lease);
    if (training) {
      RETURN_IF_ERROR(parts_.strategy->BeginLease(RateOf(lease)));
    }
  }

  Batch& batch = batch_;
  batch.count = prepared.count;
  SetTensors(prepared.features, batch.features);
  SetTensors(prepared.labels, batch.labels);
  SetTensors(prepared.weights, batch.weights);
  batch.first_example = prepared.begin;
  batch.epoch = lease.epoch();
  batch.learning_rate = RateOf(lease);
  batch.loss_divisor = static_cast<double>(prepared.step_count);
  batch.regularization_scale =
      static_cast<double>(prepared.count) / batch.loss_divisor;
  v1::LeaseReport& report = *progress_.mutable_lease();
  batch.step = static_cast<int64_t>(report.steps()) + 1;
  if (training) BeginStep(prepared);
  // Devices that sum gradients among themselves take each step, even without an
  // example, since the others wait for them.
  const bool steps_anyway =
      training && parts_.state->device_updates() != nullptr;
  if (batch.count > 0 || steps_anyway) {
    RETURN_IF_ERROR(training ? Train(batch) : Evaluate(batch));
  } else if (training) {
    RETURN_IF_ERROR(TrainOnNothing());
  }

  report.set_steps(report.steps() + 1);
  const bool is_read = IsReadingDue();
  if (is_read) RETURN_IF_ERROR(AccountFor(prepared));
  if (training) {
    ASSIGN_OR_RETURN(const int64_t step, parts_.strategy->EndStep(progress_));
    NoteStep(step);
  }
  if (is_read) Report();
  if (training && parts_.trace != nullptr) parts_.trace->EndStep();
  parts_.progress->Worked();
  return absl::OkStatus();
}

void Trainer::BeginStep(const PreparedBatch& prepared) {
  v1::LeaseReport& lease = *position_.mutable_lease();
  lease.set_steps(progress_.lease().steps() + 1);
  SetExamples(prepared, lease);
  parts_.strategy->BeginStep(position_, ends_lease_);
}

absl::Status Trainer::Train(const Batch& batch) {
  ASSIGN_OR_RETURN(Program * program,
                   parts_.programs->Get(Mode::kTrain, batch.count));
  TellWaiting(true);
  TraceLane* const lane = LaneOf(parts_.trace);
  {
    const ScopedSpan span(lane, "copy the batch");
    RETURN_IF_ERROR(program->SetBatch(batch, *parts_.stream));
  }
  TellWaiting(false);
  return RunSections(
      *program, *parts_.stream, *parts_.strategy,
      [this] { parts_.progress->Worked(); }, lane);
}

absl::Status Trainer::TrainOnNothing() {
  if (parts_.statistics != nullptr) {
    RETURN_IF_ERROR(parts_.statistics->AddNothing());
  }
  for (int bucket = 0; bucket < parts_.bucket_count; ++bucket) {
    const absl::Span<std::byte> gradients =
        parts_.state->host_gradients(bucket);
    std::memset(gradients.data(), 0, gradients.size());
    RETURN_IF_ERROR(parts_.strategy->GradientsReady(bucket));
    parts_.strategy->BucketFinal(bucket);
  }
  return absl::OkStatus();
}

absl::Status Trainer::Evaluate(const Batch& batch) {
  ASSIGN_OR_RETURN(Program * program,
                   parts_.programs->Get(Mode::kEvaluate, batch.count));
  RETURN_IF_ERROR(program->SetBatch(batch, *parts_.stream));
  for (size_t i = 0; i < program->sections().size(); ++i) {
    RETURN_IF_ERROR(program->Enqueue(static_cast<int>(i), *parts_.stream));
    parts_.progress->Worked();
  }
  return parts_.stream->Synchronize();
}

bool Trainer::IsReadingDue() const {
  return phase_ != v1::PHASE_TRAIN || ends_lease_ ||
         progress_.lease().steps() % reading_interval_ == 0;
}

absl::Status Trainer::AccountFor(const PreparedBatch& prepared) {
  TellWaiting(true);
  read_.Reset();
  RETURN_IF_ERROR(parts_.state->TakeMetrics(*parts_.stream, read_));
  sums_.Add(read_);
  TellWaiting(false);
  v1::LeaseReport& report = *progress_.mutable_lease();
  SetExamples(prepared, report);
  WriteStates(reported_size_);
  report.set_first_nonfinite_step(
      static_cast<uint64_t>(sums_.first_nonfinite_step));
  return absl::OkStatus();
}

void Trainer::WriteStates(size_t count) {
  const auto begin = sums_.states.begin();
  progress_.mutable_lease()->mutable_sums()->mutable_states()->Assign(
      begin, begin + static_cast<std::ptrdiff_t>(count));
}

void Trainer::Report() {
  if (!ends_lease_) return ReportApplied();
  WriteStates(sums_.states.size());
  parts_.progress->Report(progress_.lease(), true);
  // Shorten the states again: the pushes of the next lease carry this report,
  // too, as `previous`.
  WriteStates(reported_size_);
}

void Trainer::NoteStep(int64_t step) {
  is_applied_ = step != Strategy::kNotAppliedYet;
  if (!log_steps_) return;
  const absl::Span<const double> loss = absl::MakeSpan(read_.states).first(2);
  if (const std::optional<int64_t> late = parts_.strategy->late_step()) {
    parts_.progress->ReportStep(*late, unapplied_loss_[0], unapplied_loss_[1]);
  }
  if (is_applied_) {
    parts_.progress->ReportStep(step, loss[0], loss[1]);
  } else {
    absl::c_copy(loss, unapplied_loss_.begin());
  }
}

// The leader counts what a report says as done, even if the worker is lost. So
// a step is reported only when the servers have applied it.
void Trainer::ReportApplied() {
  const v1::LeaseReport& lease = progress_.lease();
  if (is_applied_) {
    parts_.progress->Report(lease, false);
    return;
  }
  if (unapplied_.lease_id() == lease.lease_id()) {
    parts_.progress->Report(unapplied_, false);
  }
  unapplied_ = lease;
}

void Trainer::TellWaiting(bool waits) {
  if (parts_.on_waiting == nullptr) return;
  parts_.on_waiting(waits ? waiting_ : std::string());
}

void Trainer::StartLease(const v1::Lease& lease) {
  v1::LeaseReport& report = *progress_.mutable_lease();
  *progress_.mutable_previous() = report;
  report.set_lease_id(lease.id());
  report.set_steps(0);
  report.set_first_nonfinite_step(0);
  sums_.Reset();
  *position_.mutable_previous() = progress_.previous();
  position_.mutable_previous()->clear_sums();
  position_.mutable_previous()->clear_first_nonfinite_step();
  position_.mutable_lease()->set_lease_id(lease.id());
}

}  // namespace paceline
