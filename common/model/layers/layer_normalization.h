// Layer normalization (Ba, Kiros and Hinton, 2016): by the statistics of each
// example.
#ifndef PACELINE_COMMON_MODEL_LAYERS_LAYER_NORMALIZATION_H_
#define PACELINE_COMMON_MODEL_LAYERS_LAYER_NORMALIZATION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/keras_fields.h"
#include "common/model/layers/normalization_layer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// gamma · (x − mean) / √(variance + epsilon) + beta, with mean and (biased)
// variance over `axis`, and gamma and beta of that shape if `scale` and
// `center`.
class LayerNormalization : public NormalizationLayer {
 public:
  static constexpr char kClassName[] = "LayerNormalization";
  static const FieldTable<LayerNormalization>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  // [gamma], [beta].
  std::vector<VariableSpec> Variables(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // The axes that are normalized together: the last dimensions of an input.
  Shape NormalizedShape(const Shape& input) const;

  // In Keras' counting: the batch is axis 0; negative from the end. Must be the
  // last axes.
  AxisList axis = {-1};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_LAYER_NORMALIZATION_H_
