// Converts stored values to the types that devices read.
#ifndef PACELINE_COMMON_DATA_SOURCE_CONVERT_H_
#define PACELINE_COMMON_DATA_SOURCE_CONVERT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/data_source/element.h"
#include "common/tensor/class_ids.h"

namespace paceline {

// Writes `in.count` values, multiplied by `scale`, to `out`. Computes in T,
// which is float or double.
template <typename T>
void ConvertScaled(Elements in, T scale, T* out);

// Writes `in.count` class ids. InvalidArgument names a value that is none of
// `ids`, which fit int32.
absl::Status ConvertToClassIds(Elements in, const ClassIds& ids, int32_t* out);

// InvalidArgument names the first value that is none of `ids`, with its index;
// that of the first value is `first`.
absl::Status CheckClassIds(Elements in, const ClassIds& ids, int64_t first = 0);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_CONVERT_H_
