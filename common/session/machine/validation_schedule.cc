#include "common/session/machine/validation_schedule.h"

#include <algorithm>

namespace paceline {

ValidationSchedule::ValidationSchedule(const v1::Job& job, int64_t batch_size)
    : every_epochs_(std::max<int64_t>(job.validation_freq(), 1)),
      epochs_(job.validation_epochs().begin(), job.validation_epochs().end()),
      steps_(static_cast<int64_t>(
          std::min<uint64_t>(job.validation_steps(), INT64_MAX))),
      batch_size_(batch_size) {}

bool ValidationSchedule::Follows(int epoch) const {
  const int64_t number = int64_t{epoch} + 1;
  if (!epochs_.empty()) return epochs_.contains(number);
  return number % every_epochs_ == 0;
}

int64_t ValidationSchedule::Examples(int64_t size) const {
  // The product might overflow.
  const bool takes_all = steps_ == 0 || steps_ > size / batch_size_;
  return takes_all ? size : steps_ * batch_size_;
}

}  // namespace paceline
