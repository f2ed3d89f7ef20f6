// Puts biases into products and convolutions:
//
//   p = MatrixProduct(x, kernel)
//   y = Elementwise(p, bias)            y = MatrixProduct(x, kernel, bias)
//
// The sum costs a pass over the product otherwise, which a device saves that
// adds the bias as it writes the product. Behind FuseMaps: where more than the
// sum is computed of the product, as an activation, that pass adds the bias
// too. A convolution takes a rectifier in the same way, with a bias before it
// or without.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// The function with the biases of products and convolutions in them, and the
// rectifiers of convolutions, where a device `has` such a one and nobody but
// the sum, or the rectifier, reads the one without; the function itself where
// there is none. Parameters and results stay as they are.
std::unique_ptr<Function> FuseBias(std::unique_ptr<Function> function,
                                   HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_
