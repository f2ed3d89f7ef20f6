#include "worker/device/program/pooled_rectifier.h"

#include <algorithm>

#include "common/model/activation.h"
#include "common/model/layers/max_pooling2d.h"
#include "common/operations/pooling.h"
#include "worker/device/program/fused_clamp.h"

namespace paceline {

bool RectifiesInput(const Graph& graph, const Node& node,
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

bool LeavesRectifier(const Graph& graph, const Node& node,
                     op::HasOperation has) {
  const auto index = static_cast<int>(&node - graph.nodes.data());
  return std::any_of(
      graph.nodes.begin() + 1, graph.nodes.end(), [&](const Node& reader) {
        return reader.inputs[0] == index && RectifiesInput(graph, reader, has);
      });
}

}  // namespace paceline
