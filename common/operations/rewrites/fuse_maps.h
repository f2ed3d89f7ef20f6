// Joins maps into Elementwise operations.
//
// Some tensors must lie in memory: parameters, results, and what other
// operations read or write. Each of them that a map computes becomes one
// Elementwise, whose instructions go back to the next tensors in memory. So
//
//   y = x * Sigmoid(x)                  Elementwise(x)
//   dx = dy * (s + y * (1 - s)), …      Elementwise(x, y, dy)
//
// What lies between is computed again by each that needs it, and never stored:
// backward reads the input or the output of an activation, not what is between.
//
// Kept in memory, too, is what would be computed more than once an element
// otherwise: a map of a smaller tensor (1 / Sqrt(variance)) that is broadcast
// behind it. A condition is not, for an Elementwise gives reals alone. An
// Elementwise that would be too long is cut.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_MAPS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_MAPS_H_

#include <memory>

#include "common/operations/function.h"

namespace paceline::op {

// The function with its maps joined, and without calls that no result needs. It
// has the same parameters and results, in the same order, and calls that stay
// keep theirs. Results have the same bits on the reference device.
std::unique_ptr<Function> FuseMaps(const Function& function);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_MAPS_H_
