// Maximum over each window of an image. Padding counts as -infinity; the
// gradient goes to the first of equal elements.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING2D_H_
#define PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING2D_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/model/window.h"
#include "common/tensor/shape.h"

namespace paceline {

template <typename T>
class FieldTable;

// (h, w, channels) to (h', w', channels).
class MaxPooling2D : public Layer {
 public:
  static constexpr char kClassName[] = "MaxPooling2D";
  static const FieldTable<MaxPooling2D>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  // The windows along height and width.
  std::array<Window, 2> windows() const;

  std::array<int64_t, 2> pool_size = {2, 2};
  // nullopt: pool_size.
  std::optional<std::array<int64_t, 2>> strides;
  Padding padding = Padding::kValid;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MAX_POOLING2D_H_
