// Cosine decay (Loshchilov and Hutter, "SGDR", 2017) with a linear warm-up, as
// keras.optimizers.schedules.CosineDecay has it:
//
//   p = min(iterations / decay_steps, 1)
//   lr = initial_learning_rate · ((1 - alpha) · (1 + cos(π p)) / 2 + alpha)
//
// With `warmup_target`, lr first goes from initial_learning_rate to it in
// warmup_steps steps, then decays from it.
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULES_COSINE_DECAY_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULES_COSINE_DECAY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/optimizer/schedule.h"

namespace paceline {

template <typename T>
class FieldTable;

class CosineDecay final : public Schedule {
 public:
  static constexpr char kClassName[] = "CosineDecay";
  static const FieldTable<CosineDecay>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  double At(int64_t iterations) const override;

  std::string name = kClassName;
  double initial_learning_rate = 0;
  double decay_steps = 1;
  double alpha = 0;
  std::optional<double> warmup_target;
  double warmup_steps = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULES_COSINE_DECAY_H_
