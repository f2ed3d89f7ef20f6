// Fuses the gradient of a bias into the product that computes the kernel's
// gradient:
//
//   db = Sum(dy, {0})
//   dw = MatrixProduct(x, dy, true)     dw, db = MatrixProduct(x, dy, true)
//
// Both read all of dy, so a device may compute the sum while it multiplies. For
// images, rows are pixels: a ConvolutionKernelGradient gets Sum(dy, {0, 1, 2}).
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_ROW_SUM_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_ROW_SUM_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// Fuses a sum of rows into a product whose right operand is the same matrix,
// not transposed, or a sum of pixels into the kernel gradient that reads them,
// if the device `has` the fused operation. Of several products takes the first
// that has no row sum and whose inputs exist at the position of the earlier of
// the two calls. Returns `function` itself if nothing changes.
std::unique_ptr<Function> FuseRowSum(std::unique_ptr<Function> function,
                                     HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_ROW_SUM_H_
