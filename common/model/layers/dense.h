// Densely connected layer.
#ifndef PACELINE_COMMON_MODEL_LAYERS_DENSE_H_
#define PACELINE_COMMON_MODEL_LAYERS_DENSE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/activation.h"
#include "common/model/initializer.h"
#include "common/model/layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// activation(input · kernel + bias) along the last axis: (..., n) to (...,
// units), with kernel (n, units) and bias (units).
class Dense : public Layer {
 public:
  static constexpr char kClassName[] = "Dense";
  static const FieldTable<Dense>& Fields();

  Dense() = default;
  explicit Dense(int64_t unit_count,
                 ActivationFunction function = ActivationFunction::kLinear)
      : units(unit_count), activation(function) {}

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }
  ActivationFunction final_activation() const override { return activation; }

  int64_t units = 0;
  ActivationFunction activation = ActivationFunction::kLinear;
  bool use_bias = true;
  std::shared_ptr<const Initializer> kernel_initializer =
      DefaultKernelInitializer();
  std::shared_ptr<const Initializer> bias_initializer = ZerosInitializer();
  Regularizer kernel_regularizer;
  Regularizer bias_regularizer;
  Constraint kernel_constraint;
  Constraint bias_constraint;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_DENSE_H_
