#include "common/optimizer/schedules/inverse_time_decay.h"

#include <cmath>
#include <cstdint>

#include "common/config/field_table.h"
#include "common/optimizer/schedules/schedule_fields.h"

namespace paceline {

const FieldTable<InverseTimeDecay>& InverseTimeDecay::Fields() {
  static const auto& table = *new FieldTable<InverseTimeDecay>(
      kClassName, "A learning rate that decays inversely with the steps.",
      {
          InitialLearningRate<InverseTimeDecay>(),
          RequiredSteps("decay_steps", &InverseTimeDecay::decay_steps,
                        "Steps after which it is divided by 1 + `decay_rate`."),
          Required("decay_rate", &InverseTimeDecay::decay_rate, AtLeast(0),
                   "How fast it decays."),
          Optional("staircase", &InverseTimeDecay::staircase,
                   "Whether it changes every `decay_steps` steps, and not in "
                   "between."),
          Optional("name", &InverseTimeDecay::name, "Name of the schedule."),
      });
  return table;
}

double InverseTimeDecay::At(int64_t iterations) const {
  double p = Periods(iterations, decay_steps);
  if (staircase) p = std::floor(p);
  return initial_learning_rate / (1 + decay_rate * p);
}

}  // namespace paceline
