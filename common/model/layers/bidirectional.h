// A recurrent layer in both directions.
#ifndef PACELINE_COMMON_MODEL_LAYERS_BIDIRECTIONAL_H_
#define PACELINE_COMMON_MODEL_LAYERS_BIDIRECTIONAL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/layers/recurrent_layer.h"
#include "common/model/layers/wrapped_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename E>
struct EnumName;

// How the outputs of both directions become one.
enum class MergeMode { kConcatenate, kSum, kMultiply, kAverage };
absl::Span<const EnumName<MergeMode>> EnumNames(MergeMode);

// The outputs of a layer that begins with the first step, and of one that
// begins with the last, merged step by step: (steps, n) to (size) or to (steps,
// size), where size is units, or 2 · units of "concat". Variables: those of the
// first layer, then those of the second.
class Bidirectional : public Layer {
 public:
  static constexpr char kClassName[] = "Bidirectional";
  static const FieldTable<Bidirectional>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  std::string WeightPath(int variable) const override;
  absl::StatusOr<OutputMask> ComputeMask(
      const MaskedCall& call) const override {
    return forward_layer->ComputeMask(call);
  }
  bool reads_masks() const override { return true; }
  bool has_mask_argument() const override { return true; }

  // Sets both layers: the second is a copy of the first that begins with the
  // last step.
  void SetLayer(std::shared_ptr<Layer> layer);

  MergeMode merge_mode = MergeMode::kConcatenate;
  // Both RecurrentLayers of one class.
  std::shared_ptr<Layer> forward_layer;
  std::shared_ptr<Layer> backward_layer;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_BIDIRECTIONAL_H_
