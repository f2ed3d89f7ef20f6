// Ids of classes: int32 numbers from 0, below kMaxClasses.
//
// They are compared as reals, beside the maps that read the comparison, so that
// both become one Elementwise. float32 holds ids below 2^24 exactly.
#ifndef PACELINE_COMMON_OPERATIONS_CLASS_IDS_H_
#define PACELINE_COMMON_OPERATIONS_CLASS_IDS_H_

#include <cstdint>

#include "common/operations/function.h"

namespace paceline::op {

// Most classes whose ids a real of 32 bits tells apart.
inline constexpr int64_t kMaxClasses = int64_t{1} << 24;

// Whether ids, of one shape, are the same; of bool. `type` is real.
Tensor AreSameIds(const Tensor& a, const Tensor& b, DataType type);

// From ids of any shape to (shape..., size), of bool: whether the last index is
// the id. `type` is real; size is at most kMaxClasses.
Tensor IsClass(const Tensor& ids, int64_t size, DataType type);

// From ids of any shape to (shape..., size), of the real `type`: 1 where the
// last index is the id and 0 elsewhere. An id outside of [0, size) gives zeros.
Tensor OneHot(const Tensor& ids, int64_t size, DataType type);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CLASS_IDS_H_
