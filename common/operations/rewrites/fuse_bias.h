// Fuses biases into matrix products and convolutions:
//
//   p = MatrixProduct(x, kernel)
//   y = Elementwise(p, bias)            y = MatrixProduct(x, kernel, bias)
//
// This saves a pass over the product, if the device adds the bias when it
// writes the product. Runs after FuseMaps: if an Elementwise computes more than
// the sum, such as an activation, it already adds the bias in the same pass. A
// rectifier is fused into a convolution in the same way, with or without a bias
// before it.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// Fuses biases into products and convolutions, and rectifiers into
// convolutions, if the device `has` the fused operation, and only the sum or
// the rectifier reads the unfused result. Returns `function` itself if nothing
// changes. Keeps parameters and results.
std::unique_ptr<Function> FuseBias(std::unique_ptr<Function> function,
                                   HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_
