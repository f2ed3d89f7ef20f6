// Reverse-mode differentiation of a function.
//
// The walk goes back over the list of calls, once. As it comes to a call, all
// calls that read its outputs have been passed, so their gradients are
// complete: each is the sum of what its readers gave, the last reader first.
// So the order of sums follows from the list alone, and a gradient is final as
// soon as the first call that reads its tensor has been passed.
#ifndef PACELINE_COMMON_OPERATIONS_GRADIENT_H_
#define PACELINE_COMMON_OPERATIONS_GRADIENT_H_

#include "absl/types/span.h"
#include "common/operations/function.h"

namespace paceline::op {

// Adds the operations that compute the gradients of Σᵢ output_gradientsᵢ · ofᵢ
// by each tensor of `by`; returns those. A sum over all elements of products,
// whose two factors have one type. Added calls have the owner of the call whose
// backward they are.
Gradients AddGradients(absl::Span<const Tensor> of,
                       absl::Span<const Tensor> output_gradients,
                       absl::Span<const Tensor> by);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_GRADIENT_H_
