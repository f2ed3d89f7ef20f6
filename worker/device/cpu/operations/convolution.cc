#include "common/operations/convolution.h"

#include <algorithm>
#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "worker/device/cpu/kernel_gradient.h"
#include "worker/device/cpu/onednn.h"
#include "worker/device/cpu/operations/operations.h"

// Convolutions by oneDNN. Images stay in (batch, height, width, channels),
// Keras' order: oneDNN's kernels for it are at least as fast as for its blocked
// layouts, and Flatten costs nothing. Only the convolution kernels are
// reordered into the layout that each primitive prefers, and their gradients
// back.
namespace paceline::cpu {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using Format = dnnl::memory::format_tag;

// With fewer channels, im2col takes longer than the matrix products save.
constexpr int64_t kManyChannels = 64;

// The layout of images (or their gradients) as they are stored, and as oneDNN
// multiplies them.
struct ImageLayout {
  dnnl::memory::desc values;
  dnnl::memory::desc factors;
};

// A convolution in oneDNN's terms, for forward and gradients. oneDNN lists
// dimensions in the order (batch, channels, height, width) and (groups,
// filters, channels, height, width), regardless of the layout in memory; in
// oneDNN a dilation of 0 means adjacent elements.
struct Description {
  // Input and output as they are stored; their gradients have the same layouts.
  Description(const op::ConvolutionParameters& parameters,
              const op::TensorType& input, const op::TensorType& output,
              bool has_bias, const ProgramBuilder& builder);

  DataType compute_type;
  ImageLayout input;
  ImageLayout output;
  dnnl::memory::desc keras_kernel;
  // oneDNN chooses the layout of the kernel and its gradient.
  dnnl::memory::desc any_kernel;
  dnnl::memory::desc any_kernel_gradient;
  // Empty if there is no bias.
  dnnl::memory::desc bias;
  dnnl::memory::dims strides;
  dnnl::memory::dims dilations;
  dnnl::memory::dims pad_before;
  dnnl::memory::dims pad_after;
};

op::TensorType TypeOf(const Tensor* tensor) {
  return {tensor->type, tensor->shape};
}

// The compute type of a convolution. A depthwise convolution multiplies each
// input only a few times, so rounding to bfloat16 would take as long as it
// saves.
DataType ComputeType(const op::ConvolutionParameters& parameters,
                     const op::TensorType& input,
                     const ProgramBuilder& builder) {
  const bool is_depthwise =
      parameters.groups > 1 && parameters.groups == input.shape.back();
  return is_depthwise ? input.type : builder.compute_type();
}

ImageLayout LayoutOf(const op::TensorType& images, DataType compute_type) {
  const Shape& shape = images.shape;
  const dnnl::memory::dims dims = {shape[0], shape[3], shape[1], shape[2]};
  return {Layout(dims, Format::nhwc, images.type),
          Layout(dims, Format::nhwc, compute_type)};
}

Description::Description(const op::ConvolutionParameters& parameters,
                         const op::TensorType& input_type,
                         const op::TensorType& output_type, bool has_bias,
                         const ProgramBuilder& builder)
    : compute_type(ComputeType(parameters, input_type, builder)),
      input(LayoutOf(input_type, compute_type)),
      output(LayoutOf(output_type, compute_type)) {
  const int64_t groups = parameters.groups;
  const int64_t filters = output_type.shape.back();
  dnnl::memory::dims kernel = {filters / groups,
                               input_type.shape.back() / groups};
  for (const op::WindowAxis& axis : parameters.window) {
    kernel.push_back(axis.size);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    pad_before.push_back(axis.pad_before);
    pad_after.push_back(std::max<int64_t>(axis.pad_after, 0));
  }
  if (groups > 1) kernel.insert(kernel.begin(), groups);
  keras_kernel = Layout(kernel, groups > 1 ? Format::hwigo : Format::hwio);
  any_kernel = Layout(kernel, Format::any, compute_type);
  any_kernel_gradient = Layout(kernel, Format::any);
  if (has_bias) bias = Layout({filters}, Format::x);
}

// oneDNN wants a forward primitive as a hint for a gradient. Its convolutions
// ignore the hint, and creating one takes longer than everything else here.
template <typename Gradient>
typename Gradient::primitive_desc WithoutForward(
    const typename Gradient::desc& description, const ProgramBuilder& builder) {
  dnnl_primitive_desc_t created = nullptr;
  dnnl::error::wrap_c_api(
      dnnl_primitive_desc_create(&created, &description.data,
                                 builder.PrimitiveAttributes().get(),
                                 builder.engine().get(),
                                 /*hint_forward_primitive_desc=*/nullptr),
      "no primitive for the gradient of a convolution");
  // The public constructor would copy the primitive descriptor.
  typename Gradient::primitive_desc primitive;
  primitive.reset(created);
  return primitive;
}

// Whether im2col with a matrix product is faster: oneDNN's AVX2 kernels take up
// to twice the time in these cases.
bool IsFasterAsProducts(
    const convolution_backward_weights::primitive_desc& primitive,
    const op::ConvolutionParameters& parameters, int64_t channels) {
  return primitive.src_desc().data_type() == dnnl::memory::data_type::f32 &&
         absl::StrContains(primitive.impl_info_str(), "jit:avx2") &&
         parameters.groups == 1 && channels >= kManyChannels &&
         parameters.window[0].size * parameters.window[1].size > 1;
}

}  // namespace

bool IsPlainConvolution(const op::Operation& operation,
                        absl::Span<const op::TensorType> /*inputs*/) {
  return !static_cast<const op::ConvolutionOperation&>(operation)
              .options()
              .rectifies;
}

Tensor* AddConvolution(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& operation =
      static_cast<const op::ConvolutionOperation&>(call.operation);
  Tensor* const input = call.inputs[0];
  const bool has_bias = operation.options().has_bias;
  op::TensorType output_type = call.output_type;
  // oneDNN cannot write an output type smaller than the type it multiplies.
  if (output_type.type != DataType::kFloat32) {
    output_type.type =
        ComputeType(operation.parameters(), TypeOf(input), builder);
  }
  const Description description(operation.parameters(), TypeOf(input),
                                output_type, has_bias, builder);
  const convolution_forward::primitive_desc primitive(
      convolution_forward::desc(
          builder.forward_kind(), dnnl::algorithm::convolution_direct,
          description.input.factors, description.any_kernel, description.bias,
          description.output.values, description.strides, description.dilations,
          description.pad_before, description.pad_after),
      builder.PrimitiveAttributes(), builder.engine());
  Tensor* const factors = builder.Converted(input, description.compute_type);
  Tensor* const kernel = builder.Reordered(
      call.inputs[1], description.keras_kernel, primitive.weights_desc());
  Tensor* const output = builder.NewTensor(output_type.shape, output_type.type);
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, factors, description.input.factors},
      {DNNL_ARG_WEIGHTS, kernel, primitive.weights_desc()},
      {DNNL_ARG_DST, output, description.output.values}};
  if (has_bias) {
    arguments.push_back({DNNL_ARG_BIAS, call.inputs[2], description.bias});
  }
  builder.AddPrimitive(convolution_forward(primitive),
                       primitive.scratchpad_desc(), std::move(arguments));
  return output;
}

Tensor* AddConvolutionInputGradient(const PlacedCall& call,
                                    ProgramBuilder& builder) {
  Tensor* const gradient = call.inputs[0];
  const Description description(
      static_cast<const op::ConvolutionInputGradientOperation&>(call.operation)
          .parameters(),
      call.output_type, TypeOf(gradient), /*has_bias=*/false, builder);
  const auto primitive = WithoutForward<convolution_backward_data>(
      {dnnl::algorithm::convolution_direct, description.input.values,
       description.any_kernel, description.output.factors, description.strides,
       description.dilations, description.pad_before, description.pad_after},
      builder);
  Tensor* const factors = builder.Converted(gradient, description.compute_type);
  Tensor* const kernel = builder.Reordered(
      call.inputs[1], description.keras_kernel, primitive.weights_desc());
  Tensor* const input_gradient = OutputOf(call, builder);
  builder.AddPrimitive(
      convolution_backward_data(primitive), primitive.scratchpad_desc(),
      {{DNNL_ARG_DIFF_DST, factors, description.output.factors},
       {DNNL_ARG_WEIGHTS, kernel, primitive.weights_desc()},
       {DNNL_ARG_DIFF_SRC, input_gradient, description.input.values}});
  return input_gradient;
}

Tensor* AddConvolutionKernelGradient(const PlacedCall& call,
                                     ProgramBuilder& builder) {
  const auto& operation =
      static_cast<const op::ConvolutionKernelGradientOperation&>(
          call.operation);
  const op::ConvolutionParameters& parameters = operation.parameters();
  Tensor* const input = call.inputs[0];
  Tensor* const gradient = call.inputs[1];
  Tensor* const row_sum =
      operation.has_row_sum() ? call.more_outputs[0] : nullptr;
  const Description description(parameters, TypeOf(input), TypeOf(gradient),
                                operation.has_row_sum(), builder);
  const auto primitive = WithoutForward<convolution_backward_weights>(
      {dnnl::algorithm::convolution_direct, description.input.factors,
       description.any_kernel_gradient, description.bias,
       description.output.factors, description.strides, description.dilations,
       description.pad_before, description.pad_after},
      builder);
  Tensor* const kernel_gradient = OutputOf(call, builder);
  if (IsFasterAsProducts(primitive, parameters, input->shape.back())) {
    AddKernelGradient({.window = parameters.window,
                       .height = input->shape[1],
                       .width = input->shape[2],
                       .channels = input->shape[3]},
                      input, gradient, kernel_gradient, row_sum, builder);
    return kernel_gradient;
  }
  Tensor* const input_factors =
      builder.Converted(input, description.compute_type);
  Tensor* const factors = builder.Converted(gradient, description.compute_type);
  const dnnl::memory::desc layout = primitive.diff_weights_desc();
  const bool is_direct = layout == description.keras_kernel;
  Tensor* const target =
      is_direct ? kernel_gradient
                : builder.NewScratch(static_cast<int64_t>(layout.get_size()));
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, input_factors, description.input.factors},
      {DNNL_ARG_DIFF_DST, factors, description.output.factors},
      {DNNL_ARG_DIFF_WEIGHTS, target, layout}};
  if (row_sum != nullptr) {
    arguments.push_back({DNNL_ARG_DIFF_BIAS, row_sum, description.bias});
  }
  builder.AddPrimitive(convolution_backward_weights(primitive),
                       primitive.scratchpad_desc(), std::move(arguments));
  if (!is_direct) {
    builder.AddReorder(
        {DNNL_ARG_FROM, target, layout},
        {DNNL_ARG_TO, kernel_gradient, description.keras_kernel});
  }
  return kernel_gradient;
}

}  // namespace paceline::cpu
