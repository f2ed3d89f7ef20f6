// Cuts borders off images.
#ifndef PACELINE_COMMON_MODEL_LAYERS_CROPPING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_CROPPING2D_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/layers/sides.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (h, w, channels) to (h − top − bottom, w − left − right, channels).
class Cropping2D : public Layer {
 public:
  static constexpr char kClassName[] = "Cropping2D";
  static const FieldTable<Cropping2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  ImageSides cropping = {{{0, 0}, {0, 0}}};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_CROPPING2D_H_
