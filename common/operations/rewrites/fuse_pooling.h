// Pools the rectified output of a convolution as it is computed:
//
//   c = Convolution(x, k, bias)
//   y = MaxPooling(c), rectifying         y, p = PooledConvolution(x, k, bias)
//   dc = MaxPoolingGradient(c, y, dy)
//   dk = ConvolutionKernelGradient(x, dc)
//                             dk = PooledConvolutionKernelGradient(x, p, dy)
//
// So neither c nor dc is ever stored. Behind FuseBias and FuseRowSum, which put
// the bias and its gradient into the convolution. Where more than that reads c
// or dc, as where the gradient by x is wanted, all stays as it is.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_POOLING_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_POOLING_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// The function with the first such convolution pooled, where a device `has`
// both operations; the function itself where there is none. Parameters and
// results stay as they are.
std::unique_ptr<Function> FusePooling(std::unique_ptr<Function> function,
                                      HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_POOLING_H_
