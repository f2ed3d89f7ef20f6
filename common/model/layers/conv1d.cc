#include "common/model/layers/conv1d.h"

namespace paceline {

const FieldTable<Conv1D>& Conv1D::Fields() {
  static const auto& table =
      *new FieldTable<Conv1D>(kClassName, "Convolution of sequences.",
                              GroupedConvolutionFields<Conv1D>());
  return table;
}

}  // namespace paceline
