// Puts biases into products:
//
//   p = MatrixProduct(x, kernel)
//   y = Elementwise(p, bias)            y = MatrixProduct(x, kernel, bias)
//
// The sum costs a pass over the product otherwise, which a device saves that
// adds the bias as it writes the product. Behind FuseMaps: where more than the
// sum is computed of the product, as an activation, that pass adds the bias
// too.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// The function with the biases of products in them, where a device `has` such
// a product and nobody but the sum reads the one without. Parameters and
// results stay as they are.
std::unique_ptr<Function> FuseBias(const Function& function, HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_BIAS_H_
