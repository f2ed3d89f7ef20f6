// Helpers of layers that merge inputs elementwise.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MERGE_H_
#define PACELINE_COMMON_MODEL_LAYERS_MERGE_H_

#include <algorithm>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/reshape.h"

namespace paceline {

// Extends all tensors to the largest rank among them, by axes of size 1 after
// the batch.
inline std::vector<op::Tensor> WithEqualRanks(
    absl::Span<const op::Tensor> inputs) {
  size_t rank = 0;
  for (const op::Tensor& input : inputs) {
    rank = std::max(rank, input.shape().size());
  }
  std::vector<op::Tensor> outputs;
  for (const op::Tensor& input : inputs) {
    Shape shape = input.shape();
    shape.insert(shape.begin() + 1, rank - shape.size(), 1);
    outputs.push_back(op::Reshape(input, shape));
  }
  return outputs;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MERGE_H_
