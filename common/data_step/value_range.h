// Keras' `value_range`: the least and the greatest value of images.
#ifndef PACELINE_COMMON_DATA_STEP_VALUE_RANGE_H_
#define PACELINE_COMMON_DATA_STEP_VALUE_RANGE_H_

#include <string>

#include "absl/status/status.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

struct ValueRange {
  double low = 0;
  double high = 255;
};

// InvalidArgument unless it is a pair of numbers, the least first.
absl::Status ReadConfig(const Value& value, const Path& path, ValueRange& out);
Value WriteConfig(const ValueRange& range);
std::string ConfigType(const ValueRange*);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_VALUE_RANGE_H_
