#include "common/model/layers/up_sampling2d.h"

#include <utility>

#include "worker/device/cpu/kernels/pixel_mixture.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class UpSampling2DComputation final : public LayerComputation {
 public:
  UpSampling2DComputation(const Node& node, PixelMixture mixture)
      : node_(node),
        mixture_(std::make_shared<const PixelMixture>(std::move(mixture))) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    builder.AddParallel(
        {input, output}, input_shape_[0], image_size(),
        [mixture = mixture_, input, output](int64_t begin, int64_t end) {
          MixPixels(*mixture, begin, end, input->floats(), output->floats());
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddParallel(
        {output.tensor, input_gradient}, input_shape_[0], image_size(),
        [mixture = mixture_, gradient = output.tensor, input_gradient](
            int64_t begin, int64_t end) {
          MixPixelsBackward(*mixture, begin, end, gradient->floats(),
                            input_gradient->floats());
        });
    return {input_gradient};
  }

 private:
  int64_t image_size() const { return NumElements(node_.output_shape); }

  const Node& node_;
  std::shared_ptr<const PixelMixture> mixture_;
  Shape input_shape_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeUpSampling2D(const Graph& graph,
                                                  const Node& node) {
  const auto& layer = static_cast<const UpSampling2D&>(*node.layer);
  const Shape& image = graph.nodes[node.inputs[0]].output_shape;
  return std::make_unique<UpSampling2DComputation>(
      node, PixelMixture{.height = image[0],
                         .width = image[1],
                         .channels = image[2],
                         .rows = layer.Blend(0, image[0]),
                         .columns = layer.Blend(1, image[1])});
}

}  // namespace paceline::cpu
