#include "common/model/layers/average_pooling2d.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

// Sums of rows: a channel of an image is one, over all of its pixels.
class GlobalAveragePooling final : public LayerComputation {
 public:
  GlobalAveragePooling(const Node& node, const Shape& image)
      : node_(node), pixels_{.size = image[0] * image[1], .stride = image[2]} {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    share_ = builder.NewConstant(
        std::vector<float>{1 / static_cast<float>(pixels_.size)});
    const Shape shape = builder.BatchShape(node_.output_shape);
    // In 16 bits they might overflow.
    Tensor* const sums = builder.NewTensor<float>(shape);
    builder.AddRowSums(input, pixels_, sums);
    Tensor* const output = builder.NewTensor(shape);
    builder.AddElementProduct(sums, share_, {.size = sums->count()}, output);
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    const Tensor* const gradient = output.tensor;
    Tensor* const of_pixel = builder.NewTensor(gradient->shape);
    builder.AddElementProduct(gradient, share_, {.size = gradient->count()},
                              of_pixel);
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddRepeat(of_pixel, pixels_, input_gradient);
    return {input_gradient};
  }

 private:
  const Node& node_;
  const RowGeometry pixels_;
  Shape input_shape_;
  // That a pixel has in the average.
  Tensor* share_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeGlobalAveragePooling2D(const Graph& graph,
                                                            const Node& node) {
  return std::make_unique<GlobalAveragePooling>(
      node, graph.nodes[node.inputs[0]].output_shape);
}

}  // namespace paceline::cuda
