// Axes in Keras' configs.
#ifndef PACELINE_COMMON_MODEL_AXIS_LIST_H_
#define PACELINE_COMMON_MODEL_AXIS_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace paceline {

class Path;
class Value;

// Keras' form of axes: an integer, or a list of them. A list of one is written
// as an integer.
struct AxisList : std::vector<int64_t> {
  using std::vector<int64_t>::vector;
};
absl::Status ReadConfig(const Value& value, const Path& path, AxisList& out);
Value WriteConfig(const AxisList& axes);
std::string ConfigType(const AxisList*);
// For the fields that Keras always writes as a list.
Value WriteAsList(const AxisList& axes);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_AXIS_LIST_H_
