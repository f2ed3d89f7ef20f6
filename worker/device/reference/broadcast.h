// How a merge reads inputs that are smaller than its output.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_BROADCAST_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_BROADCAST_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/tensor/shape.h"

namespace paceline::reference {

// For each element of a tensor of shape `to`, the element of one of shape
// `from` that is read there. Both have the batch; axes that are missing behind
// it, or of size 1, are repeated.
inline std::vector<size_t> BroadcastIndices(Shape from, const Shape& to) {
  from.insert(from.begin() + 1, to.size() - from.size(), 1);
  std::vector<size_t> indices = {0};
  for (size_t axis = 0; axis < to.size(); ++axis) {
    std::vector<size_t> longer;
    for (const size_t index : indices) {
      for (int64_t i = 0; i < to[axis]; ++i) {
        const int64_t at = from[axis] == 1 ? 0 : i;
        longer.push_back(index * static_cast<size_t>(from[axis]) +
                         static_cast<size_t>(at));
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_BROADCAST_H_
