#include "common/model/layers/max_pooling2d.h"

#include "common/operations/pooling.h"

namespace paceline {

const FieldTable<MaxPooling2D>& MaxPooling2D::Fields() {
  static const auto& table = *new FieldTable<MaxPooling2D>(
      kClassName, "Largest element of each window of an image.",
      PoolingFields<MaxPooling2D>());
  return table;
}

op::Tensor MaxPooling2D::Pooled(const op::Tensor& images,
                                const op::Window2D& window) const {
  return op::MaxPooling(images, window);
}

}  // namespace paceline
