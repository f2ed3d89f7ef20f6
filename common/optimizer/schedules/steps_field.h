// Fields of schedules that are numbers of steps.
#ifndef PACELINE_COMMON_OPTIMIZER_SCHEDULES_STEPS_FIELD_H_
#define PACELINE_COMMON_OPTIMIZER_SCHEDULES_STEPS_FIELD_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "common/config/field_table.h"
#include "common/config/value.h"

namespace paceline {

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

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_SCHEDULES_STEPS_FIELD_H_
