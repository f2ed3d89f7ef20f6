#include "common/model/layers/conv2d.h"

#include <algorithm>
#include <dnnl.hpp>

#include "common/model/window.h"
#include "worker/device/cpu/final_activation.h"
#include "worker/device/cpu/layers/layers.h"
#include "worker/device/cpu/onednn.h"

namespace paceline::cpu {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using Format = dnnl::memory::format_tag;

// Strides, dilations (0 for adjacent elements) and padding in oneDNN's terms.
struct Geometry {
  dnnl::memory::dims strides;
  dnnl::memory::dims dilations;
  dnnl::memory::dims pad_before;
  dnnl::memory::dims pad_after;
};

Geometry GeometryOf(const Conv2D& layer, const Shape& image) {
  Geometry geometry;
  const std::array<Window, 2> windows = layer.windows();
  for (int axis = 0; axis < 2; ++axis) {
    const WindowExtent extent = ExtentOf(windows[axis], image[axis]);
    geometry.strides.push_back(windows[axis].stride);
    geometry.dilations.push_back(windows[axis].dilation - 1);
    geometry.pad_before.push_back(extent.pad_before);
    geometry.pad_after.push_back(std::max<int64_t>(extent.pad_after, 0));
  }
  return geometry;
}

// Images stay in (batch, height, width, channels), the order of Keras: oneDNN's
// kernels are as fast on it as on its blocked layouts or faster, and Flatten
// costs nothing. Only the kernels are reordered, into the layout that each
// primitive asks for, and their gradients back.
class Conv2DComputation final : public LayerComputation {
 public:
  Conv2DComputation(const Conv2D& layer, const Node& node)
      : layer_(layer), node_(node), activation_(layer.activation) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    const Shape& in = input->shape;
    const Shape out = builder.BatchShape(node_.output_shape);
    geometry_ = GeometryOf(layer_, {in[1], in[2]});
    // oneDNN names dimensions in the order (batch, channels, height, width),
    // however they lie.
    source_ = Layout({in[0], in[3], in[1], in[2]}, Format::nhwc);
    result_ = Layout({out[0], out[3], out[1], out[2]}, Format::nhwc);
    const dnnl::memory::dims kernel_dims = {
        layer_.filters, in[3], layer_.kernel_size[0], layer_.kernel_size[1]};
    keras_kernel_ = Layout(kernel_dims, Format::hwio);
    any_kernel_ = Layout(kernel_dims, Format::any);
    if (layer_.use_bias) bias_ = Layout({layer_.filters}, Format::x);

    forward_ = convolution_forward::primitive_desc(
        convolution_forward::desc(
            builder.forward_kind(), dnnl::algorithm::convolution_direct,
            source_, any_kernel_, bias_, result_, geometry_.strides,
            geometry_.dilations, geometry_.pad_before, geometry_.pad_after),
        PrimitiveAttributes(activation_.is_fused()), builder.engine());
    Tensor* const weights = builder.Reordered(
        builder.variable(kernel()), keras_kernel_, forward_.weights_desc());
    Tensor* const values = builder.NewTensor(out);
    std::vector<PrimitiveArgument> arguments = {
        {DNNL_ARG_SRC, input, source_},
        {DNNL_ARG_WEIGHTS, weights, forward_.weights_desc()},
        {DNNL_ARG_DST, values, result_}};
    if (layer_.use_bias) {
      arguments.push_back({DNNL_ARG_BIAS, builder.variable(bias()), bias_});
    }
    builder.AddPrimitive(convolution_forward(forward_),
                         forward_.scratchpad_desc(), std::move(arguments));
    return activation_.AddForward(values, activation_.is_fused(), builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    AddBackwardWeights(gradient, builder);
    if (!wants_input) return {};
    return {AddBackwardData(gradient, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  int kernel() const { return node_.variables[0]; }
  int bias() const { return node_.variables[1]; }

  void AddBackwardWeights(Tensor* gradient, ProgramBuilder& builder) {
    const convolution_backward_weights::primitive_desc description(
        convolution_backward_weights::desc(
            dnnl::algorithm::convolution_direct, source_, any_kernel_, bias_,
            result_, geometry_.strides, geometry_.dilations,
            geometry_.pad_before, geometry_.pad_after),
        PrimitiveAttributes(), builder.engine(), forward_);
    const dnnl::memory::desc layout = description.diff_weights_desc();
    Tensor* const target = builder.gradient(kernel());
    const bool is_direct = layout == keras_kernel_;
    Tensor* const weights_gradient =
        is_direct ? target
                  : builder.NewScratch(static_cast<int64_t>(layout.get_size()));
    std::vector<PrimitiveArgument> arguments = {
        {DNNL_ARG_SRC, input_, source_},
        {DNNL_ARG_DIFF_DST, gradient, result_},
        {DNNL_ARG_DIFF_WEIGHTS, weights_gradient, layout}};
    if (layer_.use_bias) {
      arguments.push_back(
          {DNNL_ARG_DIFF_BIAS, builder.gradient(bias()), bias_});
    }
    builder.AddPrimitive(convolution_backward_weights(description),
                         description.scratchpad_desc(), std::move(arguments));
    if (!is_direct) {
      builder.AddReorder({DNNL_ARG_FROM, weights_gradient, layout},
                         {DNNL_ARG_TO, target, keras_kernel_});
    }
    for (const int variable : node_.variables) builder.FinishGradient(variable);
  }

  Tensor* AddBackwardData(Tensor* gradient, ProgramBuilder& builder) {
    const convolution_backward_data::primitive_desc description(
        convolution_backward_data::desc(
            dnnl::algorithm::convolution_direct, source_, any_kernel_, result_,
            geometry_.strides, geometry_.dilations, geometry_.pad_before,
            geometry_.pad_after),
        PrimitiveAttributes(), builder.engine(), forward_);
    Tensor* const weights = builder.Reordered(
        builder.variable(kernel()), keras_kernel_, description.weights_desc());
    Tensor* const input_gradient = builder.NewTensor(input_->shape);
    builder.AddPrimitive(
        convolution_backward_data(description), description.scratchpad_desc(),
        {{DNNL_ARG_DIFF_DST, gradient, result_},
         {DNNL_ARG_WEIGHTS, weights, description.weights_desc()},
         {DNNL_ARG_DIFF_SRC, input_gradient, source_}});
    return input_gradient;
  }

  const Conv2D& layer_;
  const Node& node_;
  FinalActivation activation_;
  Tensor* input_ = nullptr;
  Geometry geometry_;
  dnnl::memory::desc source_;
  dnnl::memory::desc keras_kernel_;
  // oneDNN chooses.
  dnnl::memory::desc any_kernel_;
  dnnl::memory::desc bias_;
  dnnl::memory::desc result_;
  convolution_forward::primitive_desc forward_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeConv2D(const Graph& /*graph*/,
                                            const Node& node) {
  return std::make_unique<Conv2DComputation>(
      static_cast<const Conv2D&>(*node.layer), node);
}

}  // namespace paceline::cpu
