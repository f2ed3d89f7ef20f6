// The base of layers that merge inputs elementwise.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MERGE_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_MERGE_LAYER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// Merges the first input with the second, the result with the third, and so on.
// Inputs are broadcast (BroadcastShape). If the layer reads masks, a step that
// the mask of an input excludes is that of the others.
class MergeLayer : public Layer {
 public:
  bool is_merge() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  // A step counts if it does in any of the inputs; no mask if one has none.
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;

 protected:
  // Merges two tensors of the same rank.
  virtual op::Tensor Merge(const op::Tensor& a, const op::Tensor& b) const = 0;

 private:
  // Merges inputs with masks: where one excludes a step, takes the others
  // alone.
  op::Tensor MergeUnmasked(const LayerCall& call) const;
};

// The mask of an input as bools of the rank of the input; nullopt: it has none.
std::optional<op::Tensor> MaskOfElements(const LayerCall& call, int input);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MERGE_LAYER_H_
