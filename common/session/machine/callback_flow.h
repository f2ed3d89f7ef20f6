// When a job asks its callbacks, and what follows from what they decide.
#ifndef PACELINE_COMMON_SESSION_MACHINE_CALLBACK_FLOW_H_
#define PACELINE_COMMON_SESSION_MACHINE_CALLBACK_FLOW_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
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

  // Events; the job has taken `steps` steps so far.
  void EpochBegan(int epoch, int64_t steps, std::vector<Action>& actions);
  void EpochEnded(const EpochRecord& record, int64_t steps,
                  std::vector<Action>& actions);
  void TrainingEnded(std::vector<Action>& actions);

  // Whether a callback has ended training.
  bool stopped() const { return stopped_; }
  // Of all training leases from now on; nullopt: the optimizer's schedule
  // counts.
  const std::optional<double>& learning_rate() const { return learning_rate_; }
  // The learning rate of a step after so many steps of the job.
  double RateAfter(int64_t steps) const;
  // Whether a checkpoint is to be taken for files of models.
  bool awaits_checkpoint() const { return !saves_.empty(); }
  // These files, which the checkpoint that is being taken is for.
  std::vector<SaveModel> TakeSaves() { return std::exchange(saves_, {}); }
  // Why the job cannot go on: a callback says so, or no step can have the
  // learning rate that was decided.
  const absl::Status& failure() const { return failure_; }

 private:
  void Obey(Decision decision, std::vector<Action>& actions);
  // It is rounded to float32, as Keras' optimizers keep it.
  void SetLearningRate(double learning_rate);

  std::shared_ptr<CallbackList> callbacks_;
  std::function<double(int64_t)> scheduled_rate_;
  // How many replicas take each step together.
  int replicas_ = 1;
  // Steps in an update of the optimizer.
  int64_t calls_per_update_ = 1;
  // Calls of the optimizer before the job.
  int64_t initial_iterations_ = 0;

  // The epoch of the last event.
  int epoch_ = 0;
  bool stopped_ = false;
  std::optional<double> learning_rate_;
  std::vector<SaveModel> saves_;
  absl::Status failure_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_CALLBACK_FLOW_H_
