#include "common/model/layers/max_pooling2d.h"

#include "common/model/layers/pooling_window.h"
#include "common/model/window.h"
#include "common/operations/pooling.h"

namespace paceline {

const FieldTable<MaxPooling2D>& MaxPooling2D::Fields() {
  static const auto& table = *new FieldTable<MaxPooling2D>(
      kClassName, "Largest element of each window of an image.",
      PoolingFields<MaxPooling2D>());
  return table;
}

std::array<Window, 2> MaxPooling2D::windows() const {
  return PoolingWindows(*this);
}

absl::StatusOr<Shape> MaxPooling2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  return PoolingOutputShape(*this, inputs[0]);
}

LoweredLayer MaxPooling2D::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  return op::MaxPooling(x, WindowOver(windows(), x.shape()));
}

}  // namespace paceline
