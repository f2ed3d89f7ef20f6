// Ids of classes: int32 numbers in [0, kMaxClasses).
//
// They are compared as floating-point numbers, so that the comparison can be
// fused with neighbouring elementwise operations. float32 represents ids below
// 2^24 exactly.
#ifndef PACELINE_COMMON_OPERATIONS_CLASS_IDS_H_
#define PACELINE_COMMON_OPERATIONS_CLASS_IDS_H_

#include <cstdint>

#include "common/operations/function.h"

namespace paceline::op {

// The number of ids that a 32-bit float distinguishes.
inline constexpr int64_t kMaxClasses = int64_t{1} << 24;

// Whether ids of the same shape are equal; bool. `type`: a floating-point type
// for comparing.
Tensor AreSameIds(const Tensor& a, const Tensor& b, DataType type);

// Whether ids of any shape are `id`, whose magnitude is at most kMaxClasses;
// bool. `type`: a floating-point type for comparing.
Tensor IsId(const Tensor& ids, int64_t id, DataType type);

// From ids of any shape to bools of shape (shape..., size): whether the last
// index equals the id. `type`: a floating-point type for comparing. size is at
// most kMaxClasses.
Tensor IsClass(const Tensor& ids, int64_t size, DataType type);

// From ids of any shape to (shape..., size) of floating-point `type`: 1 where
// the last index equals the id, else 0. An id outside of [0, size) gives zeros.
Tensor OneHot(const Tensor& ids, int64_t size, DataType type);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CLASS_IDS_H_
