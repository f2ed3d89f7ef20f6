// The base of layers that pool the windows of images or sequences.
#ifndef PACELINE_COMMON_MODEL_LAYERS_POOLING_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_POOLING_LAYER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/layer.h"
#include "common/model/layers/sequence.h"
#include "common/model/window.h"
#include "common/operations/function.h"
#include "common/operations/window_axis.h"
#include "common/tensor/shape.h"

namespace paceline {

// (h, w, channels) to (h', w', channels); if `rank` is 1, (steps, channels) to
// (steps', channels).
template <size_t rank>
class PoolingLayer : public Layer {
 public:
  static constexpr size_t kRank = rank;

  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override {
    ASSIGN_OR_RETURN(Shape output, WindowOutput(windows(), inputs[0]));
    output.push_back(inputs[0].back());
    return output;
  }

  LoweredLayer Lower(const LayerCall& call) const override {
    const op::Tensor images = ToImages<rank>(call.inputs[0]);
    return FromImages<rank>(
        Pooled(images, WindowOver(windows(), images.shape())));
  }

  std::array<int64_t, rank> pool_size = DefaultSize();
  // nullopt: pool_size.
  std::optional<std::array<int64_t, rank>> strides;
  Padding padding = Padding::kValid;

 protected:
  virtual op::Tensor Pooled(const op::Tensor& images,
                            const op::Window2D& window) const = 0;

 private:
  static std::array<int64_t, rank> DefaultSize() {
    std::array<int64_t, rank> size;
    size.fill(2);
    return size;
  }

  std::array<Window, rank> windows() const {
    std::array<Window, rank> windows;
    for (size_t axis = 0; axis < rank; ++axis) {
      windows[axis] = {.size = pool_size[axis],
                       .stride = strides.value_or(pool_size)[axis],
                       .dilation = 1,
                       .padding = padding};
    }
    return windows;
  }
};

// As in Keras, `strides` is written with its effective value.
template <typename P>
std::vector<Field<P>> PoolingFields() {
  constexpr bool kIsImage = P::kRank == 2;
  const auto write_strides = [](const P& layer) -> std::optional<Value> {
    return Codec<std::array<int64_t, P::kRank>>::Write(
        layer.strides.value_or(layer.pool_size));
  };
  Field<P> strides = WrittenAs<P>(
      write_strides,
      Optional("strides", &P::strides, Between(1, kMaxWindow),
               kIsImage ? "Steps along height and width; null: pool_size."
                        : "From window to window; null: pool_size."));
  strides.info.default_text = "null";
  const std::string inputs = InputsName<P::kRank>();
  return LayerFields<P>(
      {Optional(
           "pool_size", &P::pool_size, Between(1, kMaxWindow),
           kIsImage ? "Height and width of the window." : "Steps in a window."),
       Optional("padding", &P::padding,
                kIsImage ? "What is around the image."
                         : "What is around the sequence."),
       std::move(strides),
       Only("data_format", "channels_last", "Layout of " + inputs + ".")});
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_POOLING_LAYER_H_
