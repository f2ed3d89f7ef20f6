// The learning rate of an optimizer.
#ifndef PACELINE_COMMON_OPTIMIZER_LEARNING_RATE_H_
#define PACELINE_COMMON_OPTIMIZER_LEARNING_RATE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/optimizer/schedule.h"

namespace paceline {

class Path;
class Value;

// A constant, or a schedule.
struct LearningRate {
  double value = 0;
  // Null: the rate is `value` in each step.
  std::shared_ptr<const Schedule> schedule = nullptr;

  // The rate of update number `iterations` + 1.
  double At(int64_t iterations) const {
    return schedule == nullptr ? value : schedule->At(iterations);
  }
};

// Whether the learning rate of a step may be `value`: from 0 to the largest
// float32. Such rates are expected of peers and checkpoints, in these words.
inline bool IsLearningRate(double value) {
  return value >= 0 && value <= std::numeric_limits<float>::max();
}
inline constexpr char kLearningRates[] =
    "a number from 0 to 3.4e+38, the largest float32";

// Reads a number of at least 0, or a Keras object whose class is a schedule.
// Writes as Keras does, which stores the number as float32: 0.01 becomes
// 0.009999999776482582. See codec.h.
absl::Status ReadConfig(const Value& value, const Path& path,
                        LearningRate& out);
Value WriteConfig(const LearningRate& learning_rate);
std::string ConfigType(const LearningRate*);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_LEARNING_RATE_H_
