// Learning rate schedules, as in keras.optimizers.schedules.
//
// A schedule is one file in common/optimizer/schedules: a class whose public
// members are Keras' config keys, with its field table and its formula.
// make_schedule.cc lists all.
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULE_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace paceline {

// Immutable after construction, and thread-safe.
class Schedule {
 public:
  virtual ~Schedule() = default;

  // Keras' class name, such as "ExponentialDecay".
  virtual absl::string_view class_name() const = 0;

  // The learning rate of update number `iterations` + 1; at least 0 unless it
  // overflows. Computed in float64; Keras computes in float32.
  virtual double At(int64_t iterations) const = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULE_H_
