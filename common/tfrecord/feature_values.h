// Reads the values of a serialized BytesList, FloatList or Int64List. Numbers
// may be packed, as they are today, or not.
#ifndef PACELINE_COMMON_TFRECORD_FEATURE_VALUES_H_
#define PACELINE_COMMON_TFRECORD_FEATURE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace paceline {

// Each replaces what `out` has, and returns false if the list is malformed.
// They read one value more than `limit` at most, by which their callers see
// that there are too many, and allocate only where `out` has to grow.
bool ReadFloatList(absl::string_view list, size_t limit,
                   std::vector<float>& out);
bool ReadInt64List(absl::string_view list, size_t limit,
                   std::vector<int64_t>& out);
// The strings are parts of the list.
bool ReadBytesList(absl::string_view list, size_t limit,
                   std::vector<absl::string_view>& out);

}  // namespace paceline

#endif  // PACELINE_COMMON_TFRECORD_FEATURE_VALUES_H_
