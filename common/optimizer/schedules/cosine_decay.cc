#include "common/optimizer/schedules/cosine_decay.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/config/field_table.h"
#include "common/optimizer/schedules/schedule_fields.h"

namespace paceline {

const FieldTable<CosineDecay>& CosineDecay::Fields() {
  static const auto& table = *new FieldTable<CosineDecay>(
      kClassName,
      "A learning rate that decays by half a cosine, after a linear warm-up if "
      "asked for.",
      {
          InitialLearningRate<CosineDecay>(),
          RequiredSteps("decay_steps", &CosineDecay::decay_steps,
                        "Steps in which it decays."),
          Optional("alpha", &CosineDecay::alpha, Between(0, 1),
                   "What is left of it after them, as a share."),
          Optional("name", &CosineDecay::name, "Name of the schedule."),
          Optional("warmup_target", &CosineDecay::warmup_target, AtLeast(0),
                   "The learning rate after the warm-up; null: there is none."),
          OptionalSteps("warmup_steps", &CosineDecay::warmup_steps,
                        "Steps of the warm-up."),
      });
  return table;
}

double CosineDecay::At(int64_t iterations) const {
  double step = static_cast<double>(iterations);
  double peak = initial_learning_rate;
  if (warmup_target) {
    if (step < warmup_steps) {
      return peak + (*warmup_target - peak) * (step / warmup_steps);
    }
    step -= warmup_steps;
    peak = *warmup_target;
  }
  const double p = std::min(step / decay_steps, 1.0);
  return peak * HalfCosine(p, /*height=*/1, alpha);
}

}  // namespace paceline
