#include "common/model/layers/average_pooling2d.h"

#include <utility>

#include "worker/device/cpu/kernels/pooling.h"
#include "worker/device/cpu/layers/image_map.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

std::unique_ptr<NodeComputation> MakeAveragePooling(const Node& node,
                                                    PoolWindows pool_windows) {
  const auto windows =
      std::make_shared<const PoolWindows>(std::move(pool_windows));
  return std::make_unique<ImageMap>(
      node, windows->pixel_count * windows->channels,
      [windows](int64_t begin, int64_t end, const float* input, float* output) {
        AveragePoolForward(*windows, begin, end, input, output);
      },
      [windows](int64_t begin, int64_t end, const float* output_gradient,
                float* input_gradient) {
        AveragePoolBackward(*windows, begin, end, output_gradient,
                            input_gradient);
      });
}

}  // namespace

std::unique_ptr<NodeComputation> MakeAveragePooling2D(const Graph& graph,
                                                      const Node& node) {
  const auto& layer = static_cast<const AveragePooling2D&>(*node.layer);
  const Shape& image = graph.nodes[node.inputs[0]].output_shape;
  return MakeAveragePooling(node, MakePoolWindows(layer.windows(), image));
}

// One window, over all of the image.
std::unique_ptr<NodeComputation> MakeGlobalAveragePooling2D(const Graph& graph,
                                                            const Node& node) {
  const Shape& image = graph.nodes[node.inputs[0]].output_shape;
  return MakeAveragePooling(
      node, MakePoolWindows(
                {Window{.size = image[0]}, Window{.size = image[1]}}, image));
}

}  // namespace paceline::cpu
