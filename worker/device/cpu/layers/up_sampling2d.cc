#include "common/model/layers/up_sampling2d.h"

#include "worker/device/cpu/kernels/pixel_mixture.h"
#include "worker/device/cpu/layers/image_map.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {

std::unique_ptr<NodeComputation> MakeUpSampling2D(const Graph& graph,
                                                  const Node& node) {
  const auto& layer = static_cast<const UpSampling2D&>(*node.layer);
  const Shape& image = graph.nodes[node.inputs[0]].output_shape;
  const auto mixture = std::make_shared<const PixelMixture>(
      PixelMixture{.height = image[0],
                   .width = image[1],
                   .channels = image[2],
                   .rows = layer.Blend(0, image[0]),
                   .columns = layer.Blend(1, image[1])});
  return std::make_unique<ImageMap>(
      node, NumElements(node.output_shape),
      [mixture](int64_t begin, int64_t end, const float* input, float* output) {
        MixPixels(*mixture, begin, end, input, output);
      },
      [mixture](int64_t begin, int64_t end, const float* output_gradient,
                float* input_gradient) {
        MixPixelsBackward(*mixture, begin, end, output_gradient,
                          input_gradient);
      });
}

}  // namespace paceline::cpu
