// Polynomial decay, as keras.optimizers.schedules.PolynomialDecay has it:
//
//   p = min(iterations / decay_steps, 1)
//   lr = (initial_learning_rate - end_learning_rate) · (1 - p)^power
//        + end_learning_rate
//
// With `cycle`, decay_steps is multiplied by the smallest whole number, at
// least 1, by which p is at most 1.
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULES_POLYNOMIAL_DECAY_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULES_POLYNOMIAL_DECAY_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/optimizer/schedule.h"

namespace paceline {

template <typename T>
class FieldTable;

class PolynomialDecay final : public Schedule {
 public:
  static constexpr char kClassName[] = "PolynomialDecay";
  static const FieldTable<PolynomialDecay>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  double At(int64_t iterations) const override;

  std::string name = kClassName;
  double initial_learning_rate = 0;
  double decay_steps = 1;
  double end_learning_rate = 0.0001;
  double power = 1;
  bool cycle = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULES_POLYNOMIAL_DECAY_H_
