// Reverse-mode automatic differentiation of a function.
//
// AddGradients walks backwards over the list of calls, once. When it reaches a
// call, it has passed all calls that read the call's outputs, so the gradients
// of these outputs are complete: each is the sum of the contributions of its
// readers, the last reader first. So the order of sums follows from the list
// alone. A gradient is final as soon as the first call that reads its tensor
// has been passed; buckets are sent in this order.
#ifndef PACELINE_COMMON_OPERATIONS_GRADIENT_H_
#define PACELINE_COMMON_OPERATIONS_GRADIENT_H_

#include "absl/types/span.h"
#include "common/operations/function.h"

namespace paceline::op {

// Adds the operations that compute the gradients of Σᵢ output_gradientsᵢ · ofᵢ
// (summed over all elements) with respect to each tensor of `by`; returns these
// gradients. Each output gradient has the type of its tensor. Added calls get
// the owner of the call that they differentiate.
Gradients AddGradients(absl::Span<const Tensor> of,
                       absl::Span<const Tensor> output_gradients,
                       absl::Span<const Tensor> by);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_GRADIENT_H_
