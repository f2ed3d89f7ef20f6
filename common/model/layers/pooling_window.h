// The window of a pooling layer.
#ifndef PACELINE_COMMON_MODEL_LAYERS_POOLING_WINDOW_H_
#define PACELINE_COMMON_MODEL_LAYERS_POOLING_WINDOW_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/model/keras_fields.h"
#include "common/model/window.h"

namespace paceline {

// `P` must have pool_size, strides and padding.
template <typename P>
std::array<Window, 2> PoolingWindows(const P& layer) {
  const std::array<int64_t, 2> strides =
      layer.strides.value_or(layer.pool_size);
  std::array<Window, 2> windows;
  for (size_t axis = 0; axis < windows.size(); ++axis) {
    windows[axis] = {.size = layer.pool_size[axis],
                     .stride = strides[axis],
                     .dilation = 1,
                     .padding = layer.padding};
  }
  return windows;
}

// As in Keras, `strides` is written with its effective value.
template <typename P>
std::vector<Field<P>> PoolingFields() {
  const auto write_strides = [](const P& layer) -> std::optional<Value> {
    return Codec<std::array<int64_t, 2>>::Write(
        layer.strides.value_or(layer.pool_size));
  };
  Field<P> strides = WrittenAs(
      write_strides, Optional("strides", &P::strides, Between(1, kMaxWindow),
                              "Steps along height and width; null: "
                              "pool_size."));
  strides.info.default_text = "null";
  return LayerFields<P>(
      {Optional("pool_size", &P::pool_size, Between(1, kMaxWindow),
                "Height and width of the window."),
       Optional("padding", &P::padding, "What is around the image."),
       std::move(strides),
       Only("data_format", "channels_last", "Layout of images.")});
}

template <typename P>
absl::StatusOr<Shape> PoolingOutputShape(const P& layer, const Shape& input) {
  ASSIGN_OR_RETURN(const auto size, WindowOutput(layer.windows(), input));
  return Shape{size[0], size[1], input[2]};
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_POOLING_WINDOW_H_
