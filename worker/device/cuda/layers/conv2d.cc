#include "common/model/layers/conv2d.h"

#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/layers/layers.h"
#include "worker/device/cuda/windows_of.h"

namespace paceline::cuda {
namespace {

// A convolution is the product of the patches (pixels, kernel elements), one a
// pixel of the output, with the kernel (kernel elements, filters) as Keras has
// it. The patches are gathered for each product anew: kept from forward to
// backward they would take several times the memory of the images.
class Conv2DComputation final : public NodeComputation {
 public:
  Conv2DComputation(const Conv2D& layer, const Node& node,
                    const ImageWindows& windows)
      : layer_(layer),
        node_(node),
        windows_(windows),
        activation_(layer.activation) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    Tensor* const values =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    pixels_ = values->count() / layer_.filters;
    builder.AddProduct(
        Patches(builder), builder.variable(kernel()), values,
        {.rows = pixels_, .columns = layer_.filters, .inner = patch_size()});
    return activation_.AddForward(
        values, layer_.use_bias ? builder.variable(bias()) : nullptr, builder);
  }

  Tensor* AddBackward(OutputGradient output, bool wants_input,
                      ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    builder.AddProduct(Patches(builder), gradient, builder.gradient(kernel()),
                       {.rows = patch_size(),
                        .columns = layer_.filters,
                        .inner = pixels_,
                        .left_is_transposed = true});
    if (layer_.use_bias) {
      builder.AddColumnSums(gradient, pixels_, layer_.filters,
                            builder.gradient(bias()));
    }
    for (const int variable : node_.variables) builder.FinishGradient(variable);
    return wants_input ? AddInputGradient(gradient, builder) : nullptr;
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  int kernel() const { return node_.variables[0]; }
  int bias() const { return node_.variables[1]; }
  int64_t patch_size() const {
    return windows_.y.size * windows_.x.size * windows_.channels;
  }
  // A patch is a pixel of the input: nothing is to be gathered.
  bool is_pointwise() const {
    return windows_.y.size == 1 && windows_.x.size == 1 &&
           windows_.y.stride == 1 && windows_.x.stride == 1;
  }

  Tensor* Patches(ProgramBuilder& builder) {
    if (is_pointwise()) return input_;
    Tensor* const patches = builder.NewTensor({pixels_, patch_size()});
    builder.AddKernel(
        {input_, patches}, patches->count(),
        [=, windows = windows_, input = input_] {
          return GatherPatches{windows, input->floats(), patches->floats()};
        });
    return patches;
  }

  Tensor* AddInputGradient(Tensor* gradient, ProgramBuilder& builder) {
    Tensor* const patches = builder.NewTensor({pixels_, patch_size()});
    builder.AddProduct(gradient, builder.variable(kernel()), patches,
                       {.rows = pixels_,
                        .columns = patch_size(),
                        .inner = layer_.filters,
                        .right_is_transposed = true});
    if (is_pointwise()) return builder.Reshaped(patches, input_->shape);
    Tensor* const input_gradient = builder.NewTensor(input_->shape);
    builder.AddKernel({patches, input_gradient}, input_gradient->count(),
                      [=, windows = windows_] {
                        return SumPatches{windows, patches->floats(),
                                          input_gradient->floats()};
                      });
    return input_gradient;
  }

  const Conv2D& layer_;
  const Node& node_;
  const ImageWindows windows_;
  FinalActivation activation_;
  Tensor* input_ = nullptr;
  // Of the outputs of the batch.
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeConv2D(const Graph& graph,
                                            const Node& node) {
  const auto& layer = static_cast<const Conv2D&>(*node.layer);
  return std::make_unique<Conv2DComputation>(
      layer, node,
      WindowsOf(layer.windows(), graph.nodes[node.inputs[0]].output_shape));
}

}  // namespace paceline::cuda
