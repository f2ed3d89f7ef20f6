// Config keys that schedules share, and what they compute alike.
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULES_SCHEDULE_FIELDS_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULES_SCHEDULE_FIELDS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/config/field_table.h"
#include "common/config/value.h"

namespace paceline {

template <typename T>
Field<T> InitialLearningRate() {
  return Required("initial_learning_rate", &T::initial_learning_rate,
                  AtLeast(0), "The learning rate of the first step.");
}

// Keras writes a number of steps as it was given, which mostly is an integer.
inline Value WriteSteps(double steps) {
  constexpr double kMaxSteps = 1LL << 53;
  const bool is_integer = steps == std::trunc(steps) && steps <= kMaxSteps;
  return is_integer ? Value(static_cast<int64_t>(steps)) : Value(steps);
}

template <typename T>
Field<T> StepsField(double T::*steps, Field<T> field) {
  return WrittenAs(
      [steps](const T& schedule) -> std::optional<Value> {
        return WriteSteps(schedule.*steps);
      },
      std::move(field));
}

// A required number of steps, above 0.
template <typename T>
Field<T> RequiredSteps(const std::string& key, double T::*steps,
                       const std::string& help) {
  return StepsField<T>(steps, Required(key, steps, Above(0), help));
}

// An optional number of steps, at least 0.
template <typename T>
Field<T> OptionalSteps(const std::string& key, double T::*steps,
                       const std::string& help) {
  return StepsField<T>(steps, Optional(key, steps, AtLeast(0), help));
}

// iterations / steps, but finite, however small the steps.
inline double Periods(int64_t iterations, double steps) {
  constexpr double kMaxPeriods = 1e30;
  return std::min(static_cast<double>(iterations) / steps, kMaxPeriods);
}

// Half a cosine, from `height` at p = 0 to 0 at p = 1, above a floor:
// (1 - alpha) · height · (1 + cos(π p)) / 2 + alpha.
inline double HalfCosine(double p, double height, double alpha) {
  return (1 - alpha) * 0.5 * height * (1 + std::cos(M_PI * p)) + alpha;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULES_SCHEDULE_FIELDS_H_
