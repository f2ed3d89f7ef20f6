#include "common/model/layers/max_pooling1d.h"

#include "common/operations/pooling.h"

namespace paceline {

const FieldTable<MaxPooling1D>& MaxPooling1D::Fields() {
  static const auto& table = *new FieldTable<MaxPooling1D>(
      kClassName, "Largest element of each window of a sequence.",
      PoolingFields<MaxPooling1D>());
  return table;
}

op::Tensor MaxPooling1D::Pooled(const op::Tensor& images,
                                const op::Window2D& window) const {
  return op::MaxPooling(images, window);
}

}  // namespace paceline
