// The base of layers that merge inputs elementwise.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MERGE_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_MERGE_LAYER_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// Merges the first input with the second, the result with the third, and so on.
// Inputs are broadcast (BroadcastShape).
class MergeLayer : public Layer {
 public:
  bool is_merge() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

 protected:
  // Merges two tensors of the same rank.
  virtual op::Tensor Merge(const op::Tensor& a, const op::Tensor& b) const = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MERGE_LAYER_H_
