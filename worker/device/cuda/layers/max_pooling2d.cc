#include "common/model/layers/max_pooling2d.h"

#include "worker/device/cuda/layers/layers.h"
#include "worker/device/cuda/windows_of.h"

namespace paceline::cuda {
namespace {

class MaxPooling2DComputation final : public LayerComputation {
 public:
  explicit MaxPooling2DComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    const auto& layer = static_cast<const MaxPooling2D&>(*node_.layer);
    windows_ =
        WindowsOf(WindowOver(layer.windows(), input_shape_), input_shape_);
    const Shape shape = builder.BatchShape(node_.output_shape);
    Tensor* const output = builder.NewTensor(shape);
    std::vector<const Tensor*> used = {input, output};
    if (builder.is_training()) {
      chosen_ = builder.NewTensor<int32_t>(shape);
      used.push_back(chosen_);
    }
    builder.AddKernel(
        used, output->count(), [=, windows = windows_, chosen = chosen_] {
          return MaxPool{windows, ValuesOf(input), ValuesOf(output),
                         chosen == nullptr ? nullptr : chosen->as<int32_t>()};
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddKernel({chosen_, output.tensor, input_gradient},
                      input_gradient->count(),
                      [=, windows = windows_, chosen = chosen_] {
                        return MaxPoolBackward{windows, chosen->as<int32_t>(),
                                               ValuesOf(output.tensor),
                                               ValuesOf(input_gradient)};
                      });
    return {input_gradient};
  }

 private:
  const Node& node_;
  ImageWindows windows_;
  Shape input_shape_;
  Tensor* chosen_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeMaxPooling2D(const Graph& /*graph*/,
                                                  const Node& node) {
  return std::make_unique<MaxPooling2DComputation>(node);
}

}  // namespace paceline::cuda
