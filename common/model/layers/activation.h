// An activation function as a layer.
#ifndef PACELINE_COMMON_MODEL_LAYERS_ACTIVATION_H_
#define PACELINE_COMMON_MODEL_LAYERS_ACTIVATION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// The output has the input's shape.
class Activation : public Layer {
 public:
  static constexpr char kClassName[] = "Activation";
  static const FieldTable<Activation>& Fields();

  Activation() = default;
  explicit Activation(ActivationFunction function) : activation(function) {}

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }
  ActivationFunction final_activation() const override { return activation; }
  bool IsIdentity(bool /*is_training*/) const override {
    return activation == ActivationFunction::kLinear;
  }

  ActivationFunction activation = ActivationFunction::kLinear;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_ACTIVATION_H_
