#include "common/optimizer/schedules/cosine_decay_restarts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/config/field_table.h"
#include "common/optimizer/schedules/schedule_fields.h"

namespace paceline {

const FieldTable<CosineDecayRestarts>& CosineDecayRestarts::Fields() {
  static const auto& table = *new FieldTable<CosineDecayRestarts>(
      kClassName,
      "A learning rate that decays by half a cosine again and again.",
      {
          InitialLearningRate<CosineDecayRestarts>(),
          RequiredSteps("first_decay_steps",
                        &CosineDecayRestarts::first_decay_steps,
                        "Steps of the first period."),
          Optional("t_mul", &CosineDecayRestarts::t_mul, Between(1, 1000),
                   "How many times as long each period is as the last."),
          Optional("m_mul", &CosineDecayRestarts::m_mul, AtLeast(0),
                   "How many times as large the learning rate at its begin is "
                   "as at that of the last."),
          Optional("alpha", &CosineDecayRestarts::alpha, Between(0, 1),
                   "What is left of it at the end of a period, as a share."),
          Optional("name", &CosineDecayRestarts::name, "Name of the schedule."),
      });
  return table;
}

// Period i begins at (t_mul^i - 1) / (t_mul - 1), in lengths of the first
// period, and is t_mul^i long.
double CosineDecayRestarts::At(int64_t iterations) const {
  const double time = Periods(iterations, first_decay_steps);
  double period = std::floor(time);
  double p = time - period;
  if (t_mul > 1) {
    const auto position = [&](double i) {
      const double length = std::pow(t_mul, i);
      return (time - (length - 1) / (t_mul - 1)) / length;
    };
    period = std::floor(std::log1p(time * (t_mul - 1)) / std::log(t_mul));
    p = position(period);
    // Rounding may leave a restart in the period before.
    constexpr double kRounding = 1e-11;
    if (p >= 1 - kRounding) p = position(++period);
  }
  return initial_learning_rate *
         HalfCosine(std::clamp(p, 0.0, 1.0), std::pow(m_mul, period), alpha);
}

}  // namespace paceline
