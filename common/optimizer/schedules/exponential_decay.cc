#include "common/optimizer/schedules/exponential_decay.h"

#include <cmath>
#include <cstdint>

#include "common/config/field_table.h"
#include "common/optimizer/schedules/schedule_fields.h"

namespace paceline {

const FieldTable<ExponentialDecay>& ExponentialDecay::Fields() {
  static const auto& table = *new FieldTable<ExponentialDecay>(
      kClassName, "A learning rate that decays exponentially with the steps.",
      {
          InitialLearningRate<ExponentialDecay>(),
          RequiredSteps("decay_steps", &ExponentialDecay::decay_steps,
                        "Steps in which it is multiplied by `decay_rate` "
                        "once."),
          Required("decay_rate", &ExponentialDecay::decay_rate, AtLeast(0),
                   "By what it is multiplied."),
          Optional("staircase", &ExponentialDecay::staircase,
                   "Whether it changes every `decay_steps` steps, and not in "
                   "between."),
          Optional("name", &ExponentialDecay::name, "Name of the schedule."),
      });
  return table;
}

double ExponentialDecay::At(int64_t iterations) const {
  double exponent = Periods(iterations, decay_steps);
  if (staircase) exponent = std::floor(exponent);
  return initial_learning_rate * std::pow(decay_rate, exponent);
}

}  // namespace paceline
