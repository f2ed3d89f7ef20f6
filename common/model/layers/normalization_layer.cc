#include "common/model/layers/normalization_layer.h"

namespace paceline {

std::vector<VariableSpec> NormalizationLayer::GammaAndBeta(
    const Shape& shape) const {
  std::vector<VariableSpec> variables;
  if (scale) {
    variables.push_back({"gamma", shape, gamma_initializer, gamma_regularizer,
                         gamma_constraint});
  }
  if (center) {
    variables.push_back(
        {"beta", shape, beta_initializer, beta_regularizer, beta_constraint});
  }
  return variables;
}

}  // namespace paceline
