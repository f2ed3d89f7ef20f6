// The learning rate of an optimizer.
#ifndef PACELINE_COMMON_OPTIMIZER_LEARNING_RATE_H_
#define PACELINE_COMMON_OPTIMIZER_LEARNING_RATE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace paceline {

class Path;
class Value;

// A number, whatever the iteration. Keras' schedules, which are objects in its
// place, are known and refused.
struct LearningRate {
  double value = 0;

  // The rate of the update that follows `iterations` updates.
  double At(int64_t /*iterations*/) const { return value; }
};

// A number of at least 0. Unimplemented for a schedule.
absl::Status ReadConfig(const Value& value, const Path& path,
                        LearningRate& out);
Value WriteConfig(const LearningRate& learning_rate);
std::string ConfigType(const LearningRate*);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_LEARNING_RATE_H_
