#include "worker/device/cpu/compute_type_outputs.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/model/activation.h"
#include "common/model/layers/activation.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/depthwise_conv2d.h"
#include "common/model/layers/separable_conv2d.h"
#include "common/model/layers/zero_padding2d.h"
#include "worker/device/program/fused_clamp.h"

namespace paceline::cpu {
namespace {

bool IsAnyOf(const Node& node,
             std::initializer_list<absl::string_view> class_names) {
  return std::find(class_names.begin(), class_names.end(),
                   node.layer->class_name()) != class_names.end();
}

int IndexOf(const Graph& graph, const Node& node) {
  return static_cast<int>(&node - graph.nodes.data());
}

bool IsOutput(const Graph& graph, const Node& node) {
  return std::find(graph.outputs.begin(), graph.outputs.end(),
                   IndexOf(graph, node)) != graph.outputs.end();
}

// The nodes that read this node's output.
std::vector<const Node*> ReadersOf(const Graph& graph, const Node& node) {
  std::vector<const Node*> readers;
  for (const Node& each : graph.nodes) {
    if (std::find(each.inputs.begin(), each.inputs.end(),
                  IndexOf(graph, node)) != each.inputs.end()) {
      readers.push_back(&each);
    }
  }
  return readers;
}

// The only node that reads this node's output; null if there is none or more
// than one.
const Node* OnlyReader(const Graph& graph, const Node& node) {
  if (ReaderCount(graph, IndexOf(graph, node)) != 1) return nullptr;
  return IsOutput(graph, node) ? nullptr : ReadersOf(graph, node).front();
}

bool IsConvolution(const Node& node) {
  return IsAnyOf(node, {Conv2D::kClassName, DepthwiseConv2D::kClassName,
                        SeparableConv2D::kClassName});
}

// Whether the node's output can be stored in the compute type. An activation
// function computes in float32, so its output cannot.
bool CanOutputComputeType(const Node& node) {
  return (IsConvolution(node) ||
          (IsAnyOf(node, {BatchNormalization::kClassName}) &&
           node.masked_inputs.empty())) &&
         node.layer->final_activation() == ActivationFunction::kLinear;
}

// Whether the node passes its input on without computing, in whatever type.
bool PassesOn(const Graph& graph, const Node& node) {
  return IsFusedIntoInput(graph, node) ||
         IsAnyOf(node, {ZeroPadding2D::kClassName});
}

// Whether a loss may read the node's output, or the input of its final
// activation (common/model/loss_input.h). Losses read float32.
bool MayGiveLossInput(const Graph& graph, const Node& node) {
  if (IsOutput(graph, node)) return true;
  const std::vector<const Node*> readers = ReadersOf(graph, node);
  return std::any_of(
      readers.begin(), readers.end(), [&graph](const Node* reader) {
        return (IsAnyOf(*reader, {Activation::kClassName}) ||
                reader->layer->IsIdentity(/*is_training=*/false)) &&
               MayGiveLossInput(graph, *reader);
      });
}

}  // namespace

bool OutputsComputeType(const Graph& graph, const Node& node) {
  if (!CanOutputComputeType(node)) return false;
  const Node* reader = OnlyReader(graph, node);
  while (reader != nullptr && PassesOn(graph, *reader)) {
    reader = OnlyReader(graph, *reader);
  }
  if (reader == nullptr || MayGiveLossInput(graph, *reader)) return false;
  if (IsAnyOf(*reader, {BatchNormalization::kClassName})) {
    return !IsAnyOf(node, {BatchNormalization::kClassName});
  }
  return IsConvolution(*reader);
}

}  // namespace paceline::cpu
