// Puts the gradient of a bias into the product that gives the kernel's:
//
//   db = Sum(dy, {0})
//   dw = MatrixProduct(x, dy, true)     dw, db = MatrixProduct(x, dy, true)
//
// Both read all of dy; a device may sum its rows up as it multiplies them. The
// rows of images are their pixels: a ConvolutionKernelGradient gets
// Sum(dy, {0, 1, 2}).
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_ROW_SUM_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_ROW_SUM_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// The function with sums of the rows of a matrix in a product that has it on
// its right side, not transposed, or sums of the pixels of images in the kernel
// gradient that reads them, where a device `has` such a call: in the first one
// without such sums that can be computed where the earlier of the two calls
// stands. The function itself where there is none. Parameters and results stay
// as they are.
std::unique_ptr<Function> FuseRowSum(std::unique_ptr<Function> function,
                                     HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_ROW_SUM_H_
