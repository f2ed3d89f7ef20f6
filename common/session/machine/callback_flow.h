// When a job asks its callbacks, and what follows from what they decide.
#ifndef PACELINE_COMMON_SESSION_MACHINE_CALLBACK_FLOW_H_
#define PACELINE_COMMON_SESSION_MACHINE_CALLBACK_FLOW_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/callback/callback_list.h"
#include "common/session/machine/saved_session.h"
#include "common/session/machine/session.h"

namespace paceline {

// JobFlow tells it what happens to the job. What callbacks ask of the leader is
// appended to `actions`. Not thread-safe. A state machine without I/O.
class CallbackFlow {
 public:
  CallbackFlow() = default;
  // A global batch is divided among `world_size` workers.
  CallbackFlow(const SessionOptions& options, int world_size);

  // Writes to `saved`, or takes from it, what is kept here: the state of the
  // callbacks, and what they decided. Restore's errors are those of
  // CallbackList::Restore.
  void Save(SavedSession& saved) const;
  absl::Status Restore(const SavedSession& saved);

  // Events; the job has taken `steps` steps so far. An epoch has taken
  // `duration`, its validation included.
  void TrainingBegan(std::vector<Action>& actions);
  void EpochBegan(int epoch, int64_t steps, absl::Time now,
                  std::vector<Action>& actions);
  void ValidationBegan(int epoch, std::vector<Action>& actions);
  void ValidationEnded(int epoch, Logs logs, std::vector<Action>& actions);
  void EpochEnded(const EpochRecord& record, absl::Duration duration,
                  int64_t steps, std::vector<Action>& actions);
  // Only the progress of training need be told, and only if a callback
  // `hears_batches`. Progress that has not grown is no event.
  bool hears_batches() const { return hears_batches_; }
  // Steps of training after those of which Progressed has told are handed out;
  // earlier epochs have `steps_before`. Repeated before the next Progressed
  // that is an event, it is none.
  void BatchesBegan(int64_t steps_before, std::vector<Action>& actions);
  void Progressed(const ProgressView& progress, int64_t steps, absl::Time now,
                  std::vector<Action>& actions);
  // The same of a validation, if a callback `hears_validation_batches`.
  bool hears_validation_batches() const { return hears_validation_batches_; }
  void ValidationBatchesBegan(std::vector<Action>& actions);
  void ValidationProgressed(const ProgressView& progress,
                            std::vector<Action>& actions);
  // Steps that may follow the first `steps` of the current epoch before a
  // callback asks for a file of the model.
  int64_t StepsToSave(int64_t steps) const;
  // An epoch goes on of which an earlier run has told so many steps.
  void GoesOn(int epoch, int64_t told_steps, absl::Time now);
  void TrainingEnded(std::vector<Action>& actions);

  // A program that a callback asked for has ended; see Callback::Answered.
  void Answered(const RunCommand& run,
                const absl::StatusOr<std::string>& output,
                std::vector<Action>& actions);
  // Whether programs have not answered yet: any, or one for which leases wait.
  bool AwaitsAnswers() const { return open_ > 0; }
  bool HoldsLeases() const { return awaited_ > 0; }

  // Whether a callback has ended training.
  bool stopped() const { return stopped_; }
  // The class of the one that has; "": it is not known.
  const std::string& stopped_by() const { return stopped_by_; }
  // Of all training leases from now on; nullopt: the optimizer's schedule
  // counts.
  const std::optional<double>& learning_rate() const { return learning_rate_; }
  // The learning rate of a step after so many steps of the job.
  double RateAfter(int64_t steps) const;
  // Whether a checkpoint is to be taken for what is made of it.
  bool awaits_checkpoint() const { return !saves_.empty(); }
  // What is to be made of the checkpoint that is being taken.
  std::vector<CheckpointOutput> TakeSaves() {
    return std::exchange(saves_, {});
  }
  // Whether the model, as it is after this epoch, is to be kept by a
  // checkpoint.
  bool keeps_model() const { return keeps_model_; }
  // The same, of the checkpoint that is being taken.
  bool TakeKeepsModel() { return std::exchange(keeps_model_, false); }
  // Whether the model gets back variables of an earlier epoch when training
  // ends.
  bool RestoresKept() const {
    return callbacks_->restores_kept() && !keeps_model_;
  }
  // Whether validation is to see the averages of the variables in their place.
  bool swaps_averages() const { return callbacks_->swaps_averages(); }
  // Why the job cannot go on: a callback says so, a program has failed, or no
  // step can have the learning rate that was decided.
  const absl::Status& failure() const { return failure_; }

 private:
  void Obey(Decision decision, std::vector<Action>& actions);
  // It is rounded to float32, as Keras' optimizers keep it.
  void SetLearningRate(double learning_rate);
  // The updates of the optimizer after so many steps of the job, as Keras
  // counts them.
  int64_t IterationsAfter(int64_t steps) const;

  std::shared_ptr<CallbackList> callbacks_;
  std::function<double(int64_t)> scheduled_rate_;
  bool hears_batches_ = false;
  bool hears_validation_batches_ = false;
  // How many replicas take each step together.
  int replicas_ = 1;
  // Steps in an update of the optimizer.
  int64_t calls_per_update_ = 1;
  // The number of the last epoch, from 1.
  int epochs_ = 1;
  // Calls of the optimizer before the job.
  int64_t initial_iterations_ = 0;

  // The epoch of the last event, and its steps of which batch events told, and
  // when.
  int epoch_ = 0;
  int64_t told_steps_ = 0;
  absl::Time told_at_;
  // Whether callbacks know that the steps after these have begun.
  bool has_begun_batches_ = false;
  // The same of the validation.
  int64_t told_validation_steps_ = 0;
  bool has_begun_validation_batches_ = false;
  // Programs that have not answered, and those of them that are awaited.
  int open_ = 0;
  int awaited_ = 0;
  bool stopped_ = false;
  std::string stopped_by_;
  std::optional<double> learning_rate_;
  std::vector<CheckpointOutput> saves_;
  bool keeps_model_ = false;
  absl::Status failure_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_CALLBACK_FLOW_H_
