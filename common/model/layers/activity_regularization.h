// A penalty on a layer's output as a layer.
#ifndef PACELINE_COMMON_MODEL_LAYERS_ACTIVITY_REGULARIZATION_H_
#define PACELINE_COMMON_MODEL_LAYERS_ACTIVITY_REGULARIZATION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/regularizer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// Its output is its input, on which it puts the penalty l1·Σ|x| + l2·Σx². As in
// Keras, it has the two factors in place of an activity_regularizer.
class ActivityRegularization : public Layer {
 public:
  static constexpr char kClassName[] = "ActivityRegularization";
  static const FieldTable<ActivityRegularization>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
  bool passes_mask() const override { return true; }
  bool IsIdentity(bool /*is_training*/) const override { return true; }
  Regularizer output_penalty() const override { return {l1, l2, "L1L2"}; }

  double l1 = 0;
  double l2 = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_ACTIVITY_REGULARIZATION_H_
