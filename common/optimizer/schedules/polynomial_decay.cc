#include "common/optimizer/schedules/polynomial_decay.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/config/field_table.h"
#include "common/optimizer/schedules/schedule_fields.h"

namespace paceline {

const FieldTable<PolynomialDecay>& PolynomialDecay::Fields() {
  static const auto& table = *new FieldTable<PolynomialDecay>(
      kClassName, "A learning rate that decays by a polynomial of the steps.",
      {
          InitialLearningRate<PolynomialDecay>(),
          RequiredSteps("decay_steps", &PolynomialDecay::decay_steps,
                        "Steps in which it decays."),
          Optional("end_learning_rate", &PolynomialDecay::end_learning_rate,
                   AtLeast(0), "The learning rate after them."),
          Optional("power", &PolynomialDecay::power, AtLeast(0),
                   "Power of the polynomial; 1: linear."),
          Optional("cycle", &PolynomialDecay::cycle,
                   "Whether it rises again every `decay_steps` steps, each "
                   "time less high."),
          Optional("name", &PolynomialDecay::name, "Name of the schedule."),
      });
  return table;
}

double PolynomialDecay::At(int64_t iterations) const {
  const double periods = Periods(iterations, decay_steps);
  const double p = cycle ? periods / std::max(1.0, std::ceil(periods))
                         : std::min(periods, 1.0);
  return (initial_learning_rate - end_learning_rate) * std::pow(1 - p, power) +
         end_learning_rate;
}

}  // namespace paceline
