// The largest element along the last axis.
#ifndef PACELINE_COMMON_MODEL_ROW_MAX_H_
#define PACELINE_COMMON_MODEL_ROW_MAX_H_

#include "common/operations/function.h"

namespace paceline {

// Whether an element is the largest along the last axis, the first of equal
// ones; bool. NaN counts as smaller than all numbers.
op::Tensor IsRowMax(const op::Tensor& x);

// That element; the axis becomes 1. Equal ones share the gradient. The same as
// a Reduce by kMax, but for NaN, of operations that all devices have.
op::Tensor RowMax(const op::Tensor& x);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_ROW_MAX_H_
