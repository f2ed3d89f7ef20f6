#include "common/optimizer/schedules/exponential_decay.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "common/config/field_table.h"

namespace paceline {
namespace {

// Keras writes the number as it was given; numbers of steps are mostly
// integers.
std::optional<Value> WriteSteps(const ExponentialDecay& decay) {
  constexpr double kMaxSteps = 1LL << 53;
  const double steps = decay.decay_steps;
  const bool is_integer = steps == std::trunc(steps) && steps <= kMaxSteps;
  return is_integer ? Value(static_cast<int64_t>(steps)) : Value(steps);
}

}  // namespace

const FieldTable<ExponentialDecay>& ExponentialDecay::Fields() {
  static const auto& table = *new FieldTable<ExponentialDecay>(
      kClassName, "A learning rate that decays exponentially with the steps.",
      {
          Required("initial_learning_rate",
                   &ExponentialDecay::initial_learning_rate, AtLeast(0),
                   "The learning rate of the first step."),
          WrittenAs(
              WriteSteps,
              Required("decay_steps", &ExponentialDecay::decay_steps, Above(0),
                       "Steps in which it is multiplied by `decay_rate` "
                       "once.")),
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
  double exponent = static_cast<double>(iterations) / decay_steps;
  if (staircase) exponent = std::floor(exponent);
  return initial_learning_rate * std::pow(decay_rate, exponent);
}

}  // namespace paceline
