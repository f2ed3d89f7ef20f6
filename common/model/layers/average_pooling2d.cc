#include "common/model/layers/average_pooling2d.h"

#include "common/model/layers/pooling_window.h"
#include "common/model/window.h"
#include "common/operations/pooling.h"

namespace paceline {

const FieldTable<AveragePooling2D>& AveragePooling2D::Fields() {
  static const auto& table = *new FieldTable<AveragePooling2D>(
      kClassName, "Mean of each window of an image.",
      PoolingFields<AveragePooling2D>());
  return table;
}

std::array<Window, 2> AveragePooling2D::windows() const {
  return PoolingWindows(*this);
}

absl::StatusOr<Shape> AveragePooling2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  return PoolingOutputShape(*this, inputs[0]);
}

LoweredLayer AveragePooling2D::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  return op::AveragePooling(x, WindowOver(windows(), x.shape()));
}

}  // namespace paceline
