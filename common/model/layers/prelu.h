// Rectifier with a slope below 0 that is trained (He et al.).
#ifndef PACELINE_COMMON_MODEL_LAYERS_PRELU_H_
#define PACELINE_COMMON_MODEL_LAYERS_PRELU_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/constraint.h"
#include "common/model/initializer.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/model/regularizer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// x for x > 0, else alpha · x. Each element of an example has its own alpha,
// except along the shared axes.
class PReLU : public Layer {
 public:
  static constexpr char kClassName[] = "PReLU";
  static const FieldTable<PReLU>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }

  std::shared_ptr<const Initializer> alpha_initializer = ZerosInitializer();
  Regularizer alpha_regularizer;
  Constraint alpha_constraint;
  // At least 1 each: Keras takes negative ones for other axes.
  std::optional<AxisList> shared_axes;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_PRELU_H_
