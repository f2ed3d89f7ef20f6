#include "common/model/l2_normalized.h"

#include "common/model/loss.h"
#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"

namespace paceline {

op::Tensor L2Normalized(const op::Tensor& x, int axis) {
  const op::Tensor inverse_norm = 1 / op::Sqrt(op::Sum(x * x, {axis}));
  return x * op::Minimum(inverse_norm, 1 / kEpsilon);
}

}  // namespace paceline
