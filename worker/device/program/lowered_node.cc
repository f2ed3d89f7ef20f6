#include "worker/device/program/lowered_node.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/operations/elementwise.h"
#include "glog/logging.h"
#include "worker/device/program/function_memory.h"
#include "worker/device/program/operations/operation_table.h"

namespace paceline {
namespace {

bool Contains(const std::vector<int>& tensors, int tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

}  // namespace

LoweredNode::LoweredNode(const Node& node, NodeFunction function)
    : node_(node),
      lowered_(std::move(function)),
      memories_(FindMemories(*lowered_.function)),
      tensors_(lowered_.function->tensor_count()),
      is_finished_(node.variables.size()) {}

Tensor* LoweredNode::AddForward(absl::Span<Tensor* const> inputs,
                                LayoutBuilder& builder) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors_[lowered_.inputs[i]] = inputs[i];
  }
  for (size_t i = 0; i < node_.variables.size(); ++i) {
    tensors_[lowered_.variables[i]] = builder.variable(node_.variables[i]);
  }
  AddCallsFor({lowered_.output}, builder);
  return tensors_[lowered_.output];
}

std::vector<OutputGradient> LoweredNode::AddBackward(
    OutputGradient output, const std::vector<bool>& wants_inputs,
    LayoutBuilder& builder) {
  if (output.before_activation && !lowered_.leaves_rectifier) {
    CHECK(Contains(lowered_.inputs, lowered_.before_activation))
        << "layer " << node_.layer->name << " does more than activate";
    return {{.tensor = output.tensor}};
  }
  tensors_[lowered_.output_gradient] = output.tensor;
  std::vector<int> wanted;
  for (const int gradient : lowered_.variable_gradients) {
    if (gradient >= 0) wanted.push_back(gradient);
  }
  for (size_t i = 0; i < wants_inputs.size(); ++i) {
    if (wants_inputs[i]) wanted.push_back(lowered_.input_gradients[i]);
  }
  const bool is_result =
      std::any_of(wanted.begin(), wanted.end(), [this](int tensor) {
        return memories_[tensor] == lowered_.output_gradient;
      });
  overwritable_ = output.is_shared || is_result ? nullptr : output.tensor;
  AddCallsFor(wanted, builder);
  std::vector<OutputGradient> gradients(wants_inputs.size());
  for (size_t i = 0; i < wants_inputs.size(); ++i) {
    if (wants_inputs[i]) {
      gradients[i].tensor = tensors_[lowered_.input_gradients[i]];
      gradients[i].before_activation = lowered_.rectifies_input;
    }
  }
  return gradients;
}

Tensor* LoweredNode::before_activation() const {
  return lowered_.before_activation < 0 ? nullptr
                                        : tensors_[lowered_.before_activation];
}

void LoweredNode::AddCallsFor(const std::vector<int>& wanted,
                              LayoutBuilder& builder) {
  std::vector<bool> is_needed(tensors_.size());
  for (const int tensor : wanted) is_needed[tensor] = true;
  std::vector<const op::Call*> calls;
  const std::vector<op::Call>& all = lowered_.function->calls();
  for (size_t i = all.size(); i-- > 0;) {
    const op::Call& call = all[i];
    CHECK_EQ(call.outputs.size(), 1u) << call.operation->name();
    const int output = call.outputs[0];
    if (!is_needed[output] || tensors_[output] != nullptr) continue;
    calls.push_back(&call);
    for (const int input : call.inputs) is_needed[input] = true;
  }
  std::reverse(calls.begin(), calls.end());
  std::vector<int> reads_left(tensors_.size());
  for (const op::Call* call : calls) {
    for (const int input : call->inputs) ++reads_left[memories_[input]];
  }
  for (const op::Call* call : calls) {
    for (const int input : call->inputs) --reads_left[memories_[input]];
    AddCall(*call, reads_left, builder);
    FinishGradients(reads_left, builder);
  }
  FinishGradients(reads_left, builder);
}

void LoweredNode::AddCall(const op::Call& call,
                          const std::vector<int>& reads_left,
                          LayoutBuilder& builder) {
  std::vector<Tensor*> inputs;
  for (const int input : call.inputs) inputs.push_back(tensors_[input]);
  const int output = call.outputs[0];
  tensors_[output] =
      builder.AddCall({.operation = *call.operation,
                       .inputs = inputs,
                       .output_type = lowered_.function->type(output),
                       .output = VariableGradient(output, builder),
                       .overwritable = OverwritableBy(call, reads_left)});
}

Tensor* LoweredNode::VariableGradient(int tensor,
                                      LayoutBuilder& builder) const {
  for (size_t i = 0; i < lowered_.variable_gradients.size(); ++i) {
    if (lowered_.variable_gradients[i] == tensor) {
      return builder.gradient(node_.variables[i]);
    }
  }
  return nullptr;
}

Tensor* LoweredNode::OverwritableBy(const op::Call& call,
                                    const std::vector<int>& reads_left) const {
  const int gradient = lowered_.output_gradient;
  const bool is_last_reader = overwritable_ != nullptr &&
                              Contains(call.inputs, gradient) &&
                              reads_left[gradient] == 0;
  const op::Function& function = *lowered_.function;
  return is_last_reader &&
                 function.type(gradient) == function.type(call.outputs[0])
             ? overwritable_
             : nullptr;
}

void LoweredNode::FinishGradients(const std::vector<int>& reads_left,
                                  LayoutBuilder& builder) {
  for (size_t i = 0; i < lowered_.variable_gradients.size(); ++i) {
    const int gradient = lowered_.variable_gradients[i];
    if (gradient < 0 || is_finished_[i] || tensors_[gradient] == nullptr ||
        reads_left[lowered_.variables[i]] > 0 ||
        reads_left[memories_[gradient]] > 0) {
      continue;
    }
    is_finished_[i] = true;
    Tensor* const place = builder.gradient(node_.variables[i]);
    if (tensors_[gradient]->memory != place->memory) {
      builder.AddCopy(tensors_[gradient], place);
    }
    builder.FinishGradient(node_.variables[i]);
  }
}

}  // namespace paceline
