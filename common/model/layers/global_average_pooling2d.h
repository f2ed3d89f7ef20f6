// Mean of an image over height and width.
#ifndef PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (h, w, channels) to (channels), or (1, 1, channels) with keepdims.
class GlobalAveragePooling2D : public Layer {
 public:
  static constexpr char kClassName[] = "GlobalAveragePooling2D";
  static const FieldTable<GlobalAveragePooling2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  bool keepdims = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_
