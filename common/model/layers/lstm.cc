#include "common/model/layers/lstm.h"

#include <memory>

#include "common/model/activation_operations.h"
#include "common/model/initializers/forget_bias.h"
#include "common/operations/binary_map.h"

namespace paceline {

const FieldTable<LSTM>& LSTM::Fields() {
  static const auto& table = *new FieldTable<LSTM>(
      kClassName, "Long short-term memory.",
      RecurrentFields<LSTM>(
          {.behind_activation = {Optional("recurrent_activation",
                                          &LSTM::recurrent_activation,
                                          "Activation of the gates.")},
           .behind_initializers = {Optional(
               "unit_forget_bias", &LSTM::unit_forget_bias,
               "Whether the bias of the forget gate begins with 1.")},
           .behind_dropout = {SeedField<LSTM>()}}));
  return table;
}

VariableSpec LSTM::BiasSpec() const {
  VariableSpec bias = RecurrentLayer::BiasSpec();
  if (unit_forget_bias) {
    bias.initializer = std::make_shared<ForgetBias>(units, bias.initializer);
  }
  return bias;
}

std::vector<op::Tensor> LSTM::NextStates(const Step& step) const {
  const auto gate = [&](ActivationFunction function, int index) {
    return Activate(function, SumOfGate(step, index));
  };
  const op::Tensor input = gate(recurrent_activation, 0);
  const op::Tensor forget = gate(recurrent_activation, 1);
  const op::Tensor candidate = gate(activation, 2);
  const op::Tensor output = gate(recurrent_activation, 3);
  const op::Tensor kept = forget * step.states[1];
  const op::Tensor c = kept + input * candidate;
  const op::Tensor h = output * Activate(activation, c);
  return {h, c};
}

}  // namespace paceline
