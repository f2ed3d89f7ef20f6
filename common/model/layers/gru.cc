#include "common/model/layers/gru.h"

#include "common/model/activation_operations.h"
#include "common/operations/binary_map.h"
#include "common/operations/reshape.h"
#include "common/operations/slice.h"

namespace paceline {
namespace {

op::Tensor RowOf(const op::Tensor& biases, int row) {
  return op::Reshape(op::SliceAxis(biases, 0, row, 1), {biases.dimension(1)});
}

}  // namespace

const FieldTable<GRU>& GRU::Fields() {
  static const auto& table = *new FieldTable<GRU>(
      kClassName, "Gated recurrent unit.",
      RecurrentFields<GRU>(
          {.behind_activation = {Optional("recurrent_activation",
                                          &GRU::recurrent_activation,
                                          "Activation of the gates.")},
           .behind_dropout = {
               Optional("reset_after", &GRU::reset_after,
                        "Whether the reset gate comes behind the product."),
               SeedField<GRU>()}}));
  return table;
}

VariableSpec GRU::BiasSpec() const {
  VariableSpec bias = RecurrentLayer::BiasSpec();
  if (reset_after) bias.shape.insert(bias.shape.begin(), 2);
  return bias;
}

op::Tensor GRU::InputBias(const op::Tensor& bias) const {
  return reset_after ? RowOf(bias, 0) : bias;
}

std::optional<op::Tensor> GRU::RecurrentBias(const op::Tensor& bias) const {
  if (!reset_after) return std::nullopt;
  return RowOf(bias, 1);
}

std::vector<op::Tensor> GRU::NextStates(const Step& step) const {
  const op::Tensor& h = step.states[0];
  const op::Tensor z = Activate(recurrent_activation, SumOfGate(step, 0));
  const op::Tensor r = Activate(recurrent_activation, SumOfGate(step, 1));
  const op::Tensor of_state =
      reset_after ? r * OfState(step, h, 2) : OfState(step, r * h, 2);
  const op::Tensor candidate = Activate(activation, step.inputs[2] + of_state);
  const op::Tensor fresh = (1 - z) * candidate;
  return {z * h + fresh};
}

}  // namespace paceline
