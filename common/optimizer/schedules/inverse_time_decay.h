// Inverse time decay, as keras.optimizers.schedules.InverseTimeDecay has it:
//
//   lr = initial_learning_rate / (1 + decay_rate · iterations / decay_steps)
//
// With `staircase`, iterations / decay_steps is rounded down to a whole number.
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULES_INVERSE_TIME_DECAY_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULES_INVERSE_TIME_DECAY_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/optimizer/schedule.h"

namespace paceline {

template <typename T>
class FieldTable;

class InverseTimeDecay final : public Schedule {
 public:
  static constexpr char kClassName[] = "InverseTimeDecay";
  static const FieldTable<InverseTimeDecay>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  double At(int64_t iterations) const override;

  std::string name = kClassName;
  double initial_learning_rate = 0;
  double decay_steps = 1;
  double decay_rate = 0;
  bool staircase = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULES_INVERSE_TIME_DECAY_H_
