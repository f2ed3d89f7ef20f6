#include "worker/device/program/fused_clamp.h"

#include "common/model/layers/activation.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/layers/relu.h"

namespace paceline {
namespace {

// The layer as a clamp; nullopt if it is none.
std::optional<op::Clamp> ClampOf(const Layer& layer) {
  if (layer.class_name() == ReLU::kClassName) {
    const auto& relu = static_cast<const ReLU&>(layer);
    if (relu.negative_slope != 0 || relu.threshold != 0) return std::nullopt;
    if (!relu.max_value) return op::Clamp{.floor = 0};
    // At its ceiling a clamp has the derivative 0. Of the rectifiers with a
    // ceiling, only relu6 does.
    if (*relu.max_value != 6) return std::nullopt;
    return op::Clamp{.floor = 0, .ceiling = 6};
  }
  if (layer.class_name() == Activation::kClassName) {
    switch (static_cast<const Activation&>(layer).activation) {
      case ActivationFunction::kRelu:
        return op::Clamp{.floor = 0};
      case ActivationFunction::kRelu6:
        return op::Clamp{.floor = 0, .ceiling = 6};
      default:
        break;
    }
  }
  return std::nullopt;
}

// Under a mask, other operations compute it.
bool IsChannelNormalization(const Node& node) {
  return node.layer->class_name() == BatchNormalization::kClassName &&
         node.masked_inputs.empty();
}

}  // namespace

std::optional<op::Clamp> ClampBehind(const Graph& graph,
                                     const Node& normalization) {
  if (!IsChannelNormalization(normalization)) return std::nullopt;
  const auto index = static_cast<int>(&normalization - graph.nodes.data());
  for (const Node& node : graph.nodes) {
    if (node.inputs.size() == 1 && node.inputs[0] == index &&
        IsFusedIntoInput(graph, node)) {
      return ClampOf(*node.layer);
    }
  }
  return std::nullopt;
}

bool IsFusedIntoInput(const Graph& graph, const Node& node) {
  return ClampOf(*node.layer).has_value() &&
         IsChannelNormalization(graph.nodes[node.inputs[0]]) &&
         ReaderCount(graph, node.inputs[0]) == 1;
}

}  // namespace paceline
