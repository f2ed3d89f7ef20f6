// Lets a max pooling rectify, in the place of the rectifier before it:
//
//   y = MaxPooling(Relu(x))                      MaxPooling(x), rectifying
//   dx = MaxPoolingGradient(Relu(x), y, dy)      MaxPoolingGradient(x, y, dy),
//        * (Relu(x) > 0)                         rectifying
//
// That saves a pass over x forward and two back. The gradient by x is that of
// both, as gradient.h adds it, but for a dy that is NaN or infinite: where the
// rectifier is closed, it counts as 0, not as NaN. A rectifier that anything
// else reads stays.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_RECTIFIERS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_RECTIFIERS_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// The function for a device that `has` operations: where there is no max
// pooling that rectifies, nothing changes. It has the same parameters and
// results, in the same order; FuseMaps drops what no result needs any more.
std::unique_ptr<Function> FuseRectifiers(const Function& function,
                                         HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_RECTIFIERS_H_
