#include "common/model/layers/average_pooling1d.h"

#include "common/operations/pooling.h"

namespace paceline {

const FieldTable<AveragePooling1D>& AveragePooling1D::Fields() {
  static const auto& table = *new FieldTable<AveragePooling1D>(
      kClassName, "Mean of each window of a sequence.",
      PoolingFields<AveragePooling1D>());
  return table;
}

op::Tensor AveragePooling1D::Pooled(const op::Tensor& images,
                                    const op::Window2D& window) const {
  return op::AveragePooling(images, window);
}

}  // namespace paceline
