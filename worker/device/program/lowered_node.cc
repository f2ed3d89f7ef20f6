#include "worker/device/program/lowered_node.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/operations/sum_over_replicas.h"
#include "glog/logging.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {

LoweredNode::LoweredNode(const Node& node, NodeFunction function)
    : node_(node),
      lowered_(std::move(function)),
      overwriting_(*lowered_.function),
      tensors_(lowered_.function->tensor_count()),
      gradient_parts_(node.variables.size()),
      is_finished_(node.variables.size()),
      is_unread_(node.variables.size()) {}

Tensor* LoweredNode::AddForward(absl::Span<Tensor* const> inputs,
                                LayoutBuilder& builder) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors_[lowered_.inputs[i]] = inputs[i];
  }
  for (size_t i = 0; i < node_.variables.size(); ++i) {
    tensors_[lowered_.variables[i]] = builder.variable(node_.variables[i]);
  }
  if (lowered_.regularization_scale >= 0) {
    tensors_[lowered_.regularization_scale] = builder.AddRegularizationScale();
  }
  std::vector<int> wanted = {lowered_.output};
  for (size_t i = 0; i < lowered_.variable_gradients.size(); ++i) {
    const VariableSpec& variable =
        builder.spec().graph->variables[node_.variables[i]];
    const int delta = lowered_.variable_gradients[i];
    if (!variable.is_trained() && delta >= 0) wanted.push_back(delta);
  }
  for (const op::Call* call : CallsFor(wanted)) {
    AddCall(*call, builder);
    FinishVariables(builder);
  }
  return tensors_[lowered_.output];
}

std::vector<OutputGradient> LoweredNode::AddBackward(
    OutputGradient output, OutputGradient before_activation,
    const std::vector<bool>& wants_inputs, LayoutBuilder& builder) {
  SetGradient(lowered_.output_gradient, output);
  SetGradient(lowered_.gradient_before_activation, before_activation);
  std::vector<int> wanted;
  for (const int gradient : lowered_.variable_gradients) {
    if (gradient >= 0) wanted.push_back(gradient);
  }
  for (size_t i = 0; i < wants_inputs.size(); ++i) {
    if (wants_inputs[i]) wanted.push_back(lowered_.input_gradients[i]);
  }
  // Other replicas wait for these calls, even if nobody here reads their
  // results.
  for (const op::Call& call : lowered_.function->calls()) {
    if (call.operation->name() == op::SumOverReplicasOperation::kName) {
      wanted.push_back(call.outputs[0]);
    }
  }
  const std::vector<const op::Call*> calls = CallsFor(wanted);
  PassOthers(calls);
  FinishVariables(builder);
  for (const op::Call* call : calls) {
    AddCall(*call, builder);
    FinishVariables(builder);
  }
  std::vector<OutputGradient> gradients(wants_inputs.size());
  for (size_t i = 0; i < wants_inputs.size(); ++i) {
    if (wants_inputs[i]) {
      gradients[i].tensor = tensors_[lowered_.input_gradients[i]];
    }
  }
  return gradients;
}

void LoweredNode::SetGradient(int parameter, const OutputGradient& gradient) {
  CHECK_EQ(parameter >= 0, gradient.tensor != nullptr)
      << "layer " << node_.layer->name;
  if (parameter < 0) return;
  tensors_[parameter] = gradient.tensor;
  if (!gradient.is_shared) overwriting_.Allow(parameter);
}

Tensor* LoweredNode::before_activation() const {
  return lowered_.before_activation < 0 ? nullptr
                                        : tensors_[lowered_.before_activation];
}

std::vector<const op::Call*> LoweredNode::CallsFor(
    const std::vector<int>& wanted) const {
  std::vector<bool> is_needed(tensors_.size());
  for (const int tensor : wanted) is_needed[tensor] = true;
  std::vector<const op::Call*> calls;
  const std::vector<op::Call>& all = lowered_.function->calls();
  for (size_t i = all.size(); i-- > 0;) {
    const op::Call& call = all[i];
    const bool is_wanted =
        std::any_of(call.outputs.begin(), call.outputs.end(),
                    [&](int output) { return is_needed[output]; });
    if (!is_wanted || tensors_[call.outputs[0]] != nullptr) continue;
    calls.push_back(&call);
    for (const int input : call.inputs) is_needed[input] = true;
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

void LoweredNode::PassOthers(const std::vector<const op::Call*>& calls) {
  for (const op::Call& call : lowered_.function->calls()) {
    if (tensors_[call.outputs[0]] == nullptr &&
        std::find(calls.begin(), calls.end(), &call) == calls.end()) {
      overwriting_.Pass(call);
    }
  }
}

void LoweredNode::AddCall(const op::Call& call, LayoutBuilder& builder) {
  std::vector<Tensor*> inputs;
  for (const int input : call.inputs) inputs.push_back(tensors_[input]);
  overwriting_.Pass(call);
  const int overwritable = overwriting_.OverwritableBy(call);
  std::vector<Tensor*> more_outputs;
  for (const int more : absl::MakeSpan(call.outputs).subspan(1)) {
    Tensor* const memory = VariableGradient(more, builder);
    const auto& [type, shape] = lowered_.function->type(more);
    tensors_[more] =
        memory != nullptr ? memory : builder.NewTensor(shape, type);
    more_outputs.push_back(tensors_[more]);
  }
  const int output = call.outputs[0];
  op::TensorType output_type = lowered_.function->type(output);
  output_type.type = StoredType(output, builder);
  tensors_[output] = builder.AddCall(
      {.operation = *call.operation,
       .inputs = inputs,
       .output_type = output_type,
       .output = VariableGradient(output, builder),
       .more_outputs = more_outputs,
       .overwritable = overwritable < 0 ? nullptr : tensors_[overwritable]});
}

DataType LoweredNode::StoredType(int tensor,
                                 const LayoutBuilder& builder) const {
  const DataType compute_type = builder.compute_type();
  if (tensor == lowered_.output && lowered_.stores_compute_type)
    return compute_type;
  for (size_t i = 0; i < lowered_.input_gradients.size(); ++i) {
    if (tensor == lowered_.input_gradients[i] &&
        tensors_[lowered_.inputs[i]]->type == compute_type) {
      return compute_type;
    }
  }
  return lowered_.function->type(tensor).type;
}

Tensor* LoweredNode::VariableGradient(int tensor, LayoutBuilder& builder) {
  for (size_t i = 0; i < lowered_.variable_gradients.size(); ++i) {
    const int gradient = lowered_.variable_gradients[i];
    if (gradient < 0) continue;
    if (gradient == tensor) return GradientPart(i, builder);
    if (overwriting_.MemoryOf(gradient) == tensor) {
      return builder.Reshaped(GradientPart(i, builder),
                              lowered_.function->type(tensor).shape);
    }
  }
  return nullptr;
}

Tensor* LoweredNode::GradientPart(size_t variable, LayoutBuilder& builder) {
  Tensor*& part = gradient_parts_[variable];
  if (part == nullptr) {
    part = builder.NewGradientPart(node_.variables[variable]);
  }
  return part;
}

std::vector<size_t> LoweredNode::TakeFinished() {
  std::vector<size_t> finished;
  for (size_t i = 0; i < lowered_.variable_gradients.size(); ++i) {
    const int gradient = lowered_.variable_gradients[i];
    if (gradient < 0 || is_finished_[i] || tensors_[gradient] == nullptr ||
        overwriting_.IsRead(gradient)) {
      continue;
    }
    is_finished_[i] = true;
    finished.push_back(i);
  }
  return finished;
}

void LoweredNode::FinishVariables(LayoutBuilder& builder) {
  const std::vector<size_t> finished = TakeFinished();
  // Copy all gradients before adding penalties: a penalty is added in place,
  // and two variables may share the memory of their gradients.
  for (const size_t i : finished) {
    const Tensor* const gradient = tensors_[lowered_.variable_gradients[i]];
    Tensor* const memory = GradientPart(i, builder);
    if (gradient->memory != memory->memory) builder.AddCopy(gradient, memory);
  }
  for (const size_t i : finished) {
    builder.FinishGradient(node_.variables[i], gradient_parts_[i]);
  }
  for (size_t i = 0; i < is_unread_.size(); ++i) {
    if (!is_finished_[i] || is_unread_[i] ||
        overwriting_.IsRead(lowered_.variables[i])) {
      continue;
    }
    is_unread_[i] = true;
    builder.FinishReads(node_.variables[i]);
  }
}

}  // namespace paceline
