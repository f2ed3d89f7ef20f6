#include "common/model/layers/zero_padding2d.h"

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

// Windows of one pixel that begin in the padding: their patches are the padded
// images.
class ZeroPadding2DComputation final : public LayerComputation {
 public:
  explicit ZeroPadding2DComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    const auto& padding =
        static_cast<const ZeroPadding2D&>(*node_.layer).padding;
    const auto window = [&](int axis) {
      return AxisWindow{.input = input_shape_[1 + axis],
                        .output = node_.output_shape[axis],
                        .pad_before = padding[axis][0]};
    };
    windows_ = {window(0), window(1), input_shape_[3]};
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    builder.AddKernel(
        {input, output}, output->count(), [=, windows = windows_] {
          return GatherPatches{windows, input->floats(), output->floats()};
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddKernel({output.tensor, input_gradient}, input_gradient->count(),
                      [=, windows = windows_, gradient = output.tensor] {
                        return SumPatches{windows, gradient->floats(),
                                          input_gradient->floats()};
                      });
    return {input_gradient};
  }

 private:
  const Node& node_;
  Shape input_shape_;
  ImageWindows windows_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeZeroPadding2D(const Graph& /*graph*/,
                                                   const Node& node) {
  return std::make_unique<ZeroPadding2DComputation>(node);
}

}  // namespace paceline::cuda
