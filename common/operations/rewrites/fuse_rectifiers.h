// Fuses a rectifier into the max pooling after it:
//
//   y = MaxPooling(Relu(x))                      MaxPooling(x), rectifying
//   dx = MaxPoolingGradient(Relu(x), y, dy)      MaxPoolingGradient(x, y, dy),
//        * (Relu(x) > 0)                         rectifying
//
// This saves a pass over x in forward, and two in backward. The gradient of x
// is the same as in gradient.h, unless dy is NaN or infinite: where the
// rectifier is closed, the fused gradient is 0 instead of NaN. A rectifier that
// has other readers is kept.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_RECTIFIERS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_RECTIFIERS_H_

#include <memory>

#include "common/operations/function.h"
#include "common/operations/rewrites/replace_calls.h"

namespace paceline::op {

// Fuses rectifiers for a device that `has` operations; nothing changes if it
// has no max pooling that rectifies. The function has the same parameters and
// results, in the same order. Calls that no result needs are left in; FuseMaps
// drops them.
std::unique_ptr<Function> FuseRectifiers(const Function& function,
                                         HasOperation has);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_RECTIFIERS_H_
