// When a job validates, as the arguments of Keras' fit say: validation_freq and
// validation_steps.
#ifndef PACELINE_COMMON_SESSION_MACHINE_VALIDATION_SCHEDULE_H_
#define PACELINE_COMMON_SESSION_MACHINE_VALIDATION_SCHEDULE_H_

#include <cstdint>
#include <set>

#include "paceline/v1/job.pb.h"

namespace paceline {

// Immutable; thread-safe.
class ValidationSchedule {
 public:
  // Validates after each epoch, on the whole validation set.
  ValidationSchedule() = default;
  // `batch_size`: examples in a step of the job's training.
  ValidationSchedule(const v1::Job& job, int64_t batch_size);

  // Whether a validation follows the epoch, counted from 0.
  bool Follows(int epoch) const;
  // How many examples it takes from the start of a validation set of `size`.
  int64_t Examples(int64_t size) const;

 private:
  int64_t every_epochs_ = 1;
  // Epochs counted from 1, which replace `every_epochs_`.
  std::set<int64_t> epochs_;
  // 0: all.
  int64_t steps_ = 0;
  int64_t batch_size_ = 1;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_MACHINE_VALIDATION_SCHEDULE_H_
