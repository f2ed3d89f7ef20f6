// Cuts the ends off sequences.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CROPPING1D_H_
#define PACELINE_COMMON_MODEL_LAYERS_CROPPING1D_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/layers/sides.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (steps, channels) to (steps − before − after, channels).
class Cropping1D : public Layer {
 public:
  static constexpr char kClassName[] = "Cropping1D";
  static const FieldTable<Cropping1D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  Sides cropping = {1, 1};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CROPPING1D_H_
