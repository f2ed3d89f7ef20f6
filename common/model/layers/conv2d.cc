#include "common/model/layers/conv2d.h"

namespace paceline {

const FieldTable<Conv2D>& Conv2D::Fields() {
  static const auto& table = *new FieldTable<Conv2D>(
      kClassName, "Convolution of images.", GroupedConvolutionFields<Conv2D>());
  return table;
}

}  // namespace paceline
