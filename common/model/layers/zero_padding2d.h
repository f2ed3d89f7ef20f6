// Pads images with zeros.
#ifndef PACELINE_COMMON_MODEL_LAYERS_ZERO_PADDING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_ZERO_PADDING2D_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/layers/sides.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (h, w, channels) to (top + h + bottom, left + w + right, channels).
class ZeroPadding2D : public Layer {
 public:
  static constexpr char kClassName[] = "ZeroPadding2D";
  static const FieldTable<ZeroPadding2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  ImageSides padding = {{{1, 1}, {1, 1}}};
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_ZERO_PADDING2D_H_
