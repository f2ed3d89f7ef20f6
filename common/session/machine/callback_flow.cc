#include "common/session/machine/callback_flow.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/job/job_model.h"
#include "common/optimizer/learning_rate.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// The logs of an epoch as Keras has them at its end.
Logs LogsOf(const EpochRecord& record) {
  Logs all;
  for (Logs logs : {record.logs, record.validation_logs}) {
    std::sort(logs.begin(), logs.end());
    all.insert(all.end(), logs.begin(), logs.end());
  }
  return all;
}

}  // namespace

CallbackFlow::CallbackFlow(const SessionOptions& options, int world_size)
    : callbacks_(options.callbacks != nullptr
                     ? options.callbacks
                     : std::make_shared<CallbackList>()),
      scheduled_rate_(options.learning_rate),
      hears_batches_(callbacks_->hears_batches()),
      hears_validation_batches_(callbacks_->hears_validation_batches()),
      replicas_(IsSynchronous(options.job)
                    ? ReplicaCount(options.job, world_size)
                    : 1),
      calls_per_update_(std::max<int64_t>(options.calls_per_update, 1)),
      epochs_(std::max<int>(options.job.epochs(), 1)),
      initial_iterations_(
          static_cast<int64_t>(options.job.initial_iterations())) {}

void CallbackFlow::Save(SavedSession& saved) const {
  saved.learning_rate = learning_rate_;
  saved.stopped = stopped_;
  saved.stopped_by = stopped_by_;
  saved.saves = saves_;
  saved.callbacks = callbacks_->Save();
}

absl::Status CallbackFlow::Restore(const SavedSession& saved) {
  learning_rate_ = saved.learning_rate;
  stopped_ = saved.stopped;
  stopped_by_ = PeerText(saved.stopped_by);
  return callbacks_->Restore(saved.callbacks, "session.callbacks");
}

void CallbackFlow::TrainingBegan(std::vector<Action>& actions) {
  Obey(callbacks_->TrainingBegan(), actions);
}

void CallbackFlow::EpochBegan(int epoch, int64_t steps, absl::Time now,
                              std::vector<Action>& actions) {
  GoesOn(epoch, /*told_steps=*/0, now);
  Obey(callbacks_->EpochBegan({.epoch = epoch,
                               .learning_rate = RateAfter(steps),
                               .steps = steps,
                               .num_replicas = replicas_}),
       actions);
}

void CallbackFlow::GoesOn(int epoch, int64_t told_steps, absl::Time now) {
  epoch_ = epoch;
  told_steps_ = told_steps;
  told_at_ = now;
  has_begun_batches_ = false;
}

void CallbackFlow::BatchesBegan(int64_t steps_before,
                                std::vector<Action>& actions) {
  if (!hears_batches_ || std::exchange(has_begun_batches_, true)) return;
  const int64_t steps = steps_before + told_steps_;
  Obey(callbacks_->BatchBegan({.epoch = epoch_,
                               .batch = told_steps_,
                               .steps = steps,
                               .learning_rate = RateAfter(steps)}),
       actions);
}

void CallbackFlow::Progressed(const ProgressView& progress, int64_t steps,
                              absl::Time now, std::vector<Action>& actions) {
  const int64_t count = progress.steps_done - told_steps_;
  // A worker may report steps before their losses.
  if (count <= 0 || progress.logs.empty()) return;
  told_steps_ = progress.steps_done;
  has_begun_batches_ = false;
  BatchEnd end;
  end.epoch = progress.epoch;
  end.batch = progress.steps_done - 1;
  end.count = count;
  end.steps = steps;
  end.logs = progress.logs;
  std::sort(end.logs.begin(), end.logs.end());
  end.learning_rate = RateAfter(steps);
  end.seconds = absl::ToDoubleSeconds(now - std::exchange(told_at_, now));
  Obey(callbacks_->BatchEnded(end), actions);
}

int64_t CallbackFlow::StepsToSave(int64_t steps) const {
  const std::optional<int64_t> next = callbacks_->steps_to_save();
  return next ? told_steps_ + *next - steps
              : std::numeric_limits<int64_t>::max();
}

void CallbackFlow::ValidationBegan(int epoch, std::vector<Action>& actions) {
  told_validation_steps_ = 0;
  has_begun_validation_batches_ = false;
  Obey(callbacks_->ValidationBegan(epoch), actions);
}

void CallbackFlow::ValidationBatchesBegan(std::vector<Action>& actions) {
  if (!hears_validation_batches_ ||
      std::exchange(has_begun_validation_batches_, true)) {
    return;
  }
  Obey(callbacks_->ValidationBatchBegan(epoch_, told_validation_steps_),
       actions);
}

void CallbackFlow::ValidationProgressed(const ProgressView& progress,
                                        std::vector<Action>& actions) {
  // The leases of a lost worker are taken anew, so there may be fewer.
  const int64_t count = progress.steps_done - told_validation_steps_;
  if (count <= 0 || progress.logs.empty()) return;
  told_validation_steps_ = progress.steps_done;
  has_begun_validation_batches_ = false;
  ValidationBatchEnd end;
  end.epoch = progress.epoch;
  end.batch = progress.steps_done - 1;
  end.count = count;
  end.logs = progress.logs;
  std::sort(end.logs.begin(), end.logs.end());
  Obey(callbacks_->ValidationBatchEnded(end), actions);
}

void CallbackFlow::ValidationEnded(int epoch, Logs logs,
                                   std::vector<Action>& actions) {
  std::sort(logs.begin(), logs.end());
  Obey(callbacks_->ValidationEnded(epoch, logs), actions);
}

void CallbackFlow::EpochEnded(const EpochRecord& record,
                              absl::Duration duration, int64_t steps,
                              std::vector<Action>& actions) {
  epoch_ = record.epoch;
  const int64_t iterations = IterationsAfter(steps);
  Obey(callbacks_->EpochEnded(
           {.epoch = record.epoch,
            .logs = LogsOf(record),
            .learning_rate = RateAfter(steps),
            .iterations = iterations,
            .steps = steps,
            .is_last = record.epoch + 1 >= epochs_,
            .epoch_iterations =
                iterations - IterationsAfter(steps - record.steps),
            .seconds = absl::ToDoubleSeconds(duration)}),
       actions);
}

int64_t CallbackFlow::IterationsAfter(int64_t steps) const {
  return (initial_iterations_ + steps) / calls_per_update_;
}

void CallbackFlow::TrainingEnded(std::vector<Action>& actions) {
  Obey(callbacks_->TrainingEnded(), actions);
}

void CallbackFlow::Answered(const RunCommand& run,
                            const absl::StatusOr<std::string>& output,
                            std::vector<Action>& actions) {
  --open_;
  if (run.is_awaited) --awaited_;
  CHECK(open_ >= awaited_ && awaited_ >= 0) << "it was not asked for";
  absl::StatusOr<Decision> decision = callbacks_->Answered(run, output);
  if (decision.ok()) {
    Obey(*std::move(decision), actions);
  } else {
    failure_.Update(decision.status());
  }
}

double CallbackFlow::RateAfter(int64_t steps) const {
  return learning_rate_ ? *learning_rate_ : scheduled_rate_(steps);
}

void CallbackFlow::Obey(Decision decision, std::vector<Action>& actions) {
  if (decision.stops_training && !std::exchange(stopped_, true)) {
    stopped_by_ = decision.stopped_by;
  }
  if (decision.learning_rate) SetLearningRate(*decision.learning_rate);
  failure_.Update(decision.failure);
  saves_.insert(saves_.end(), decision.saves.begin(), decision.saves.end());
  keeps_model_ |= decision.keeps_model;
  if (decision.outputs.empty()) return;
  for (const CallbackOutput& output : decision.outputs) {
    const auto* const run = std::get_if<RunCommand>(&output);
    if (run == nullptr) continue;
    ++open_;
    if (run->is_awaited) ++awaited_;
  }
  actions.emplace_back(ServeCallbacks{std::move(decision.outputs)});
}

void CallbackFlow::SetLearningRate(double learning_rate) {
  if (IsLearningRate(learning_rate)) {
    learning_rate_ = static_cast<float>(learning_rate);
    return;
  }
  failure_.Update(absl::InvalidArgumentError(absl::StrCat(
      "learning_rate: ", learning_rate, " by the callbacks of epoch ",
      epoch_ + 1, "; expected ", kLearningRates)));
}

}  // namespace paceline
