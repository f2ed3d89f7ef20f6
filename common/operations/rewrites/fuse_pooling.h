// Fuses a max pooling into the convolution before it:
//
//   c = Convolution(x, k, bias)
//   y = MaxPooling(c), rectifying         y, p = PooledConvolution(x, k, bias)
//   dc = MaxPoolingGradient(c, y, dy)
//   dk = ConvolutionKernelGradient(x, dc)
//                             dk = PooledConvolutionKernelGradient(x, p, dy)
//
// Then neither c nor dc is stored. Runs after FuseBias and FuseRowSum, which
// fuse the bias and its gradient into the convolution. Nothing changes if
// anything else reads c or dc; this includes the gradient with respect to x.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_POOLING_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_POOLING_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// Fuses the first such convolution, if the device `has` both operations.
// Returns `function` itself if nothing changes. Keeps parameters and results.
std::unique_ptr<Function> FusePooling(std::unique_ptr<Function> function,
                                      HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_POOLING_H_
