// The base of normalization layers: gamma and beta.
#ifndef PACELINE_COMMON_MODEL_LAYERS_NORMALIZATION_LAYER_H_
#define PACELINE_COMMON_MODEL_LAYERS_NORMALIZATION_LAYER_H_

#include <memory>
#include <vector>

#include "common/config/field_table.h"
#include "common/model/constraint.h"
#include "common/model/initializer.h"
#include "common/model/layer.h"
#include "common/model/layers/variable_fields.h"
#include "common/model/regularizer.h"
#include "common/model/variable.h"
#include "common/tensor/shape.h"

namespace paceline {

// gamma · (x − mean) / √(variance + epsilon) + beta, with gamma if `scale` and
// beta if `center`. Each layer defines its mean and variance.
class NormalizationLayer : public Layer {
 public:
  bool passes_mask() const override { return true; }

  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  std::shared_ptr<const Initializer> beta_initializer = ZerosInitializer();
  std::shared_ptr<const Initializer> gamma_initializer = OnesInitializer();
  Regularizer beta_regularizer;
  Regularizer gamma_regularizer;
  Constraint beta_constraint;
  Constraint gamma_constraint;

 protected:
  // [gamma], [beta], each of `shape`.
  std::vector<VariableSpec> GammaAndBeta(const Shape& shape) const;
};

// The fields epsilon, center and scale of layer `L`.
template <typename L>
std::vector<Field<L>> NormalizationFields() {
  return {
      Optional("epsilon", &L::epsilon, AtLeast(0), "Added to the variance."),
      Optional("center", &L::center, "Whether beta is added."),
      Optional("scale", &L::scale, "Whether gamma is a factor.")};
}

// The keys of beta and gamma, followed by `others`.
template <typename L>
std::vector<Field<L>> BetaAndGammaFields(
    const std::vector<VariableKeys<L>>& others = {}) {
  std::vector<VariableKeys<L>> variables = {
      {"beta", "beta", &L::beta_initializer, &L::beta_regularizer,
       &L::beta_constraint},
      {"gamma", "gamma", &L::gamma_initializer, &L::gamma_regularizer,
       &L::gamma_constraint}};
  variables.insert(variables.end(), others.begin(), others.end());
  return VariableFields<L>(variables);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_NORMALIZATION_LAYER_H_
