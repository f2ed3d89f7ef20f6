// Keras' form of a range that a random factor is drawn from.
#ifndef PACELINE_COMMON_DATA_STEP_FACTOR_RANGE_H_
#define PACELINE_COMMON_DATA_STEP_FACTOR_RANGE_H_

#include <string>

#include "absl/status/status.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// A number f stands for [-f, f]; a pair for its two numbers, in any order.
struct FactorRange {
  double low = 0;
  double high = 0;
};

absl::Status ReadConfig(const Value& value, const Path& path, FactorRange& out);
Value WriteConfig(const FactorRange& range);
std::string ConfigType(const FactorRange*);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_FACTOR_RANGE_H_
