#include "common/optimizer/schedules/exponential_decay.h"

#include <cmath>

#include "common/config/field_table.h"

namespace paceline {

const FieldTable<ExponentialDecay>& ExponentialDecay::Fields() {
  static const auto& table = *new FieldTable<ExponentialDecay>(
      kClassName, "A learning rate that decays exponentially with the steps.",
      {
          Optional("name", &ExponentialDecay::name, "Name of the schedule."),
          Required("initial_learning_rate",
                   &ExponentialDecay::initial_learning_rate, AtLeast(0),
                   "The learning rate of the first step."),
          Required("decay_steps", &ExponentialDecay::decay_steps, Above(0),
                   "Steps in which it is multiplied by `decay_rate` once."),
          Required("decay_rate", &ExponentialDecay::decay_rate, AtLeast(0),
                   "By what it is multiplied."),
          Optional("staircase", &ExponentialDecay::staircase,
                   "Whether it changes every `decay_steps` steps, and not in "
                   "between."),
      });
  return table;
}

Value ExponentialDecay::WriteConfig() const { return Fields().Write(*this); }

double ExponentialDecay::At(int64_t iterations) const {
  double exponent = static_cast<double>(iterations) / decay_steps;
  if (staircase) exponent = std::floor(exponent);
  return initial_learning_rate * std::pow(decay_rate, exponent);
}

}  // namespace paceline
