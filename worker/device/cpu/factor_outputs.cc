#include "worker/device/cpu/factor_outputs.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "common/model/activation.h"
#include "common/model/layers/activation.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/conv2d.h"
#include "common/model/layers/depthwise_conv2d.h"
#include "common/model/layers/dropout.h"
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

// Null: there are others, or none.
const Node* OnlyReader(const Graph& graph, const Node& node) {
  const auto index = static_cast<int>(&node - graph.nodes.data());
  if (ReaderCount(graph, index) != 1) return nullptr;
  return &*std::find_if(
      graph.nodes.begin(), graph.nodes.end(), [index](const Node& each) {
        return std::find(each.inputs.begin(), each.inputs.end(), index) !=
               each.inputs.end();
      });
}

bool IsConvolution(const Node& node) {
  return IsAnyOf(node, {Conv2D::kClassName, DepthwiseConv2D::kClassName,
                        SeparableConv2D::kClassName});
}

// Whether its output can lie so: activations are float32.
bool GivesFactors(const Node& node) {
  return (IsConvolution(node) ||
          IsAnyOf(node, {BatchNormalization::kClassName})) &&
         node.layer->final_activation() == ActivationFunction::kLinear;
}

// Whether it passes its input on, of whatever type.
bool PassesOn(const Graph& graph, const Node& node) {
  return IsFusedIntoInput(graph, node) ||
         IsAnyOf(node, {ZeroPadding2D::kClassName});
}

// The loss may be taken of the node's output, or of what goes into its
// activation (common/model/loss_input.h): it computes in float32.
bool MayGiveLossInput(const Graph& graph, const Node& node) {
  const Node* last = &node;
  while (last != nullptr && last != &graph.nodes[graph.output]) {
    last = OnlyReader(graph, *last);
    if (last != nullptr &&
        !IsAnyOf(*last, {Activation::kClassName, Dropout::kClassName})) {
      return false;
    }
  }
  return last != nullptr;
}

}  // namespace

bool IsReadAsFactors(const Graph& graph, const Node& node) {
  if (!GivesFactors(node)) return false;
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
