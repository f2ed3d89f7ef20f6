// Fuses elementwise operations into Elementwise operations.
//
// Some tensors must be in memory: parameters, results, and tensors that other
// operations read or write. Each such tensor that an elementwise operation
// computes becomes one Elementwise, whose instructions reach back to the next
// tensors in memory. So
//
//   y = x * Sigmoid(x)                  Elementwise(x)
//   dx = dy * (s + y * (1 - s)), …      Elementwise(x, y, dy)
//
// Intermediate tensors are recomputed by each Elementwise that needs them, and
// never stored: backward reads the input or the output of an activation, not
// the tensors in between. This is loop fusion with recomputation, as in XLA.
//
// Two exceptions. A tensor stays in memory if it would be computed more than
// once per element otherwise, because it is smaller and broadcast afterwards (1
// / Sqrt(variance)); conditions are recomputed nevertheless, since an
// Elementwise can only return floating-point values. And an Elementwise that
// would be too long is cut.
//
// Invariants: no call reads a tensor that is neither in memory nor computed by
// its own instructions; results have the same bits on the reference device.
#ifndef PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_MAPS_H_
#define PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_MAPS_H_

#include <memory>

#include "common/operations/function.h"

namespace paceline::op {

// The function with fused elementwise operations, and without calls that no
// result needs. It has the same parameters and results, in the same order;
// other calls are kept.
std::unique_ptr<Function> FuseMaps(const Function& function);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REWRITES_FUSE_MAPS_H_
