// Reshapes each example, in C order.
#ifndef PACELINE_COMMON_MODEL_LAYERS_RESHAPE_H_
#define PACELINE_COMMON_MODEL_LAYERS_RESHAPE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (...) to target_shape, in which one dimension may be -1, to be inferred.
class Reshape : public Layer {
 public:
  static constexpr char kClassName[] = "Reshape";
  static const FieldTable<Reshape>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  Shape target_shape;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_RESHAPE_H_
