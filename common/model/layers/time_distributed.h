// A layer for each step of a sequence.
#ifndef PACELINE_COMMON_MODEL_LAYERS_TIME_DISTRIBUTED_H_
#define PACELINE_COMMON_MODEL_LAYERS_TIME_DISTRIBUTED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/layers/wrapped_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// From (steps, ...) to (steps, ...'), where `layer` maps (...) to (...'). All
// steps of all examples are one batch of the layer, so it must compute each
// example by itself, and the same in training as in evaluation.
class TimeDistributed : public Layer {
 public:
  static constexpr char kClassName[] = "TimeDistributed";
  static const FieldTable<TimeDistributed>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  ActivationFunction final_activation() const override {
    return layer->final_activation();
  }
  std::string WeightPath(int variable) const override;
  absl::StatusOr<OutputMask> ComputeMask(const MaskedCall& call) const override;
  bool passes_mask() const override { return true; }
  // A layer that has an argument `mask` gets each step's part of it.
  bool reads_masks() const override { return layer->reads_masks(); }
  bool has_mask_argument() const override { return true; }

  std::shared_ptr<Layer> layer;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_TIME_DISTRIBUTED_H_
