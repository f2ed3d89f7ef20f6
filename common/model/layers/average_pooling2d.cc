#include "common/model/layers/average_pooling2d.h"

#include "common/operations/pooling.h"

namespace paceline {

const FieldTable<AveragePooling2D>& AveragePooling2D::Fields() {
  static const auto& table = *new FieldTable<AveragePooling2D>(
      kClassName, "Mean of each window of an image.",
      PoolingFields<AveragePooling2D>());
  return table;
}

op::Tensor AveragePooling2D::Pooled(const op::Tensor& images,
                                    const op::Window2D& window) const {
  return op::AveragePooling(images, window);
}

}  // namespace paceline
