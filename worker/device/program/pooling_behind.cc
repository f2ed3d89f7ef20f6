#include "worker/device/program/pooling_behind.h"

#include "common/model/activation.h"
#include "common/model/layers/max_pooling2d.h"
#include "common/operations/pooling.h"
#include "worker/device/program/fused_clamp.h"

namespace paceline {

const Node* PoolingBehind(const Graph& graph, const Node& node,
                          op::HasOperation has) {
  const auto index = static_cast<int>(&node - graph.nodes.data());
  for (const Node& reader : graph.nodes) {
    if (reader.inputs.empty() || reader.inputs[0] != index) continue;
    return IsPooledBefore(graph, reader, has) ? &reader : nullptr;
  }
  return nullptr;
}

bool IsPooledBefore(const Graph& graph, const Node& node,
                    op::HasOperation has) {
  if (node.layer->class_name() != MaxPooling2D::kClassName) return false;
  const int input = node.inputs[0];
  const Node& before = graph.nodes[input];
  op::TensorType image = {DataType::kFloat32, before.output_shape};
  image.shape.insert(image.shape.begin(), 1);
  return before.layer->final_activation() == ActivationFunction::kRelu &&
         ReaderCount(graph, input) == 1 && !IsFusedIntoInput(graph, before) &&
         has(op::MaxPoolingOperation({}, /*rectifies=*/true), {image});
}

}  // namespace paceline
