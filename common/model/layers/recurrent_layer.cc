#include "common/model/layers/recurrent_layer.h"

#include "absl/strings/str_cat.h"
#include "common/model/philox.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/matrix_product.h"
#include "common/operations/random.h"
#include "common/operations/reshape.h"
#include "common/operations/reverse.h"
#include "common/operations/scan.h"
#include "common/operations/select.h"
#include "common/operations/slice.h"
#include "common/operations/transpose.h"

namespace paceline {
namespace {

// `x` where it is kept, scaled so that its mean stays; else 0.
op::Tensor Dropped(const op::Tensor& x, const op::Tensor& is_kept,
                   double rate) {
  const op::Tensor zero = op::ConstantLike(x, 0);
  return op::Select(is_kept, x * (1 / (1 - rate)), zero);
}

// (batch, steps, n) to (steps, batch, n), or back.
op::Tensor SwapBatchAndSteps(const op::Tensor& x) {
  return op::Transpose(x, {1, 0, 2});
}

}  // namespace

absl::StatusOr<Shape> RecurrentLayer::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckSequence(inputs[0]));
  return return_sequences ? Shape{inputs[0][0], units} : Shape{units};
}

std::vector<VariableSpec> RecurrentLayer::Variables(
    absl::Span<const Shape> inputs) const {
  const int64_t columns = gate_count() * units;
  std::vector<VariableSpec> variables = {{"kernel",
                                          {inputs[0].back(), columns},
                                          kernel_initializer,
                                          kernel_regularizer,
                                          kernel_constraint},
                                         {"recurrent_kernel",
                                          {units, columns},
                                          recurrent_initializer,
                                          recurrent_regularizer,
                                          recurrent_constraint}};
  if (use_bias) variables.push_back(BiasSpec());
  return variables;
}

VariableSpec RecurrentLayer::BiasSpec() const {
  return {"bias",
          {gate_count() * units},
          bias_initializer,
          bias_regularizer,
          bias_constraint};
}

std::string RecurrentLayer::WeightPath(int variable) const {
  return absl::StrCat("cell/", Layer::WeightPath(variable));
}

absl::StatusOr<OutputMask> RecurrentLayer::ComputeMask(
    const MaskedCall& call) const {
  RETURN_IF_ERROR(CheckStepMask(call.inputs[0], call.masks[0]));
  return Layer::ComputeMask(call);
}

LoweredLayer RecurrentLayer::Lower(const LayerCall& call) const {
  const op::Tensor output = LowerInOrder(call);
  return go_backwards && return_sequences ? op::Reverse(output, 1) : output;
}

op::Tensor RecurrentLayer::LowerInOrder(const LayerCall& call) const {
  const Step whole = WholeSequence(call);
  auto body = std::make_shared<op::Function>();
  const auto parameters = [&body](const std::vector<op::Tensor>& arguments,
                                  bool are_sequences) {
    std::vector<op::Tensor> parameters;
    for (const op::Tensor& each : arguments) {
      op::TensorType type = each.type();
      if (are_sequences) type.shape.erase(type.shape.begin());
      parameters.push_back(body->AddParameter(std::move(type)));
    }
    return parameters;
  };
  // Braces evaluate in order.
  const Step step = {
      parameters(whole.states, false), parameters(whole.inputs, true),
      parameters(whole.mask, true),    parameters(whole.kernels, false),
      parameters(whole.biases, false), parameters(whole.kept, false)};
  AddStep(step, *body);

  op::ScanArguments arguments = {.carries = whole.states,
                                 .sequences = whole.inputs,
                                 .constants = whole.kernels,
                                 .is_reversed = go_backwards,
                                 .has_gradient = call.is_training};
  const auto append = [](const std::vector<op::Tensor>& more,
                         std::vector<op::Tensor>& to) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(whole.mask, arguments.sequences);
  append(whole.biases, arguments.constants);
  append(whole.kept, arguments.constants);
  const op::ScanResults results = op::Scan(std::move(body), arguments);
  if (return_sequences) return SwapBatchAndSteps(results.outputs[0]);
  const op::Tensor& last = results.carries[0];
  if (whole.mask.empty() || !zero_output_for_mask) return last;
  const int64_t last_step = go_backwards ? 0 : call.inputs[0].dimension(1) - 1;
  const op::Tensor of_last = op::Reshape(
      op::SliceAxis(whole.mask[0], 0, last_step, 1), {last.dimension(0), 1});
  return op::Select(op::Greater(of_last, 0.5), last, op::ConstantLike(last, 0));
}

void RecurrentLayer::AddStep(const Step& step, op::Function& body) const {
  std::vector<op::Tensor> next = NextStates(step);
  op::Tensor output = next[0];
  if (!step.mask.empty()) {
    const op::Tensor counts = op::Greater(step.mask[0], 0.5);
    for (size_t i = 0; i < next.size(); ++i) {
      next[i] = op::Select(counts, next[i], step.states[i]);
    }
    output = zero_output_for_mask
                 ? op::Select(counts, output, op::ConstantLike(output, 0))
                 : next[0];
  }
  for (const op::Tensor& state : next) body.AddResult(state);
  if (return_sequences) body.AddResult(output);
}

RecurrentLayer::Step RecurrentLayer::WholeSequence(
    const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const int64_t batch = x.dimension(0);
  const int64_t steps = x.dimension(1);
  Step whole;
  const std::vector<op::Tensor> inputs = InputsByGate(call);
  const std::vector<op::Tensor> kernels = ByGate(call.variables[0]);
  std::vector<op::Tensor> biases;
  if (use_bias) biases = ByGate(InputBias(call.variables[2]));
  for (int gate = 0; gate < gate_count(); ++gate) {
    op::Tensor product = op::MatrixProduct(inputs[gate], kernels[gate]);
    if (use_bias) product = product + biases[gate];
    whole.inputs.push_back(op::Reshape(product, {steps, batch, units}));
  }
  if (!call.masks.empty()) {
    whole.mask = {
        op::Reshape(op::Transpose(call.masks[0], {1, 0}), {steps, batch, 1})};
  }
  whole.kernels = ByGate(call.variables[1]);
  if (use_bias) {
    const std::optional<op::Tensor> bias = RecurrentBias(call.variables[2]);
    if (bias) whole.biases = ByGate(*bias);
  }
  const Shape state = {batch, units};
  for (int i = 0; i < state_count(); ++i) {
    whole.states.push_back(op::Full(x.function(), {x.data_type(), state}, 0));
  }
  for (int gate = 0;
       call.is_training && recurrent_dropout > 0 && gate < gate_count();
       ++gate) {
    whole.kept.push_back(
        DropoutMaskOf(call, state, recurrent_dropout, gate_count() + gate));
  }
  return whole;
}

std::vector<op::Tensor> RecurrentLayer::InputsByGate(
    const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const auto rows = [&](const op::Tensor& values) {
    return op::Reshape(SwapBatchAndSteps(values),
                       {x.dimension(0) * x.dimension(1), x.dimension(2)});
  };
  std::vector<op::Tensor> inputs;
  if (!call.is_training || dropout == 0) {
    inputs.assign(gate_count(), rows(x));
    return inputs;
  }
  const int mask_count = recurrent_dropout > 0 ? gate_count() : 1;
  for (int mask = 0; mask < mask_count; ++mask) {
    const op::Tensor is_kept =
        DropoutMaskOf(call, {x.dimension(0), 1, x.dimension(2)}, dropout, mask);
    inputs.push_back(rows(Dropped(x, is_kept, dropout)));
  }
  inputs.resize(gate_count(), inputs[0]);
  return inputs;
}

op::Tensor RecurrentLayer::DropoutMaskOf(const LayerCall& call, Shape shape,
                                         double rate, int index) const {
  const uint64_t key = NoiseKeyOf(*this, seed, call.seed, call.call);
  return op::DropoutMask(call.inputs[0].function(), std::move(shape), rate,
                         MixKey(key, static_cast<uint64_t>(index)));
}

op::Tensor RecurrentLayer::Columns(const op::Tensor& tensor, int gate) const {
  return op::SliceAxis(tensor, -1, gate * units, units);
}

std::vector<op::Tensor> RecurrentLayer::ByGate(const op::Tensor& tensor) const {
  if (gate_count() == 1) return {tensor};
  std::vector<op::Tensor> by_gate;
  for (int gate = 0; gate < gate_count(); ++gate) {
    by_gate.push_back(Columns(tensor, gate));
  }
  return by_gate;
}

op::Tensor RecurrentLayer::OfState(const Step& step, const op::Tensor& state,
                                   int gate) const {
  const op::Tensor product = op::MatrixProduct(
      step.kept.empty() ? state
                        : Dropped(state, step.kept[gate], recurrent_dropout),
      step.kernels[gate]);
  return step.biases.empty() ? product : product + step.biases[gate];
}

op::Tensor RecurrentLayer::SumOfGate(const Step& step, int gate) const {
  return step.inputs[gate] + OfState(step, step.states[0], gate);
}

}  // namespace paceline
