// Keeps work that may take long to a share of the time.
#ifndef PACELINE_COORDINATOR_SERVICE_DUTY_CYCLE_H_
#define PACELINE_COORDINATOR_SERVICE_DUTY_CYCLE_H_

#include "absl/time/time.h"

namespace paceline {

// Not thread-safe.
class DutyCycle {
 public:
  // One in `parts` of the time.
  explicit DutyCycle(int parts) : parts_(parts) {}

  bool MayWork(absl::Time now) const { return now >= next_; }
  void Worked(absl::Time begin, absl::Time end) {
    next_ = end + (parts_ - 1) * (end - begin);
  }

 private:
  int parts_;
  absl::Time next_ = absl::InfinitePast();
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_DUTY_CYCLE_H_
