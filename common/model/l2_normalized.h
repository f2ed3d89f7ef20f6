// Normalization by the L2 norm.
#ifndef PACELINE_COMMON_MODEL_L2_NORMALIZED_H_
#define PACELINE_COMMON_MODEL_L2_NORMALIZED_H_

#include "common/operations/function.h"

namespace paceline {

// x divided by its norm along an axis of x, which includes the batch. As
// keras.ops.normalize: a norm below 1e-7 counts as 1e-7.
op::Tensor L2Normalized(const op::Tensor& x, int axis);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_L2_NORMALIZED_H_
