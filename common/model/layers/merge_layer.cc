#include "common/model/layers/merge_layer.h"

#include <algorithm>

#include "common/model/shape_rule.h"
#include "common/operations/reshape.h"

namespace paceline {
namespace {

// Extends `input` to `rank`, by axes of size 1 after the batch.
op::Tensor WithRank(const op::Tensor& input, int rank) {
  Shape shape = input.shape();
  shape.insert(shape.begin() + 1, rank - input.rank(), 1);
  return op::Reshape(input, shape);
}

}  // namespace

absl::StatusOr<Shape> MergeLayer::OutputShape(
    absl::Span<const Shape> inputs) const {
  return BroadcastShape(inputs);
}

LoweredLayer MergeLayer::Lower(const LayerCall& call) const {
  int rank = 0;
  for (const op::Tensor& input : call.inputs) {
    rank = std::max(rank, input.rank());
  }
  op::Tensor merged = WithRank(call.inputs[0], rank);
  for (const op::Tensor& input : call.inputs.subspan(1)) {
    merged = Merge(merged, WithRank(input, rank));
  }
  return merged;
}

}  // namespace paceline
