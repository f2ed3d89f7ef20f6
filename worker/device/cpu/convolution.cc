#include "worker/device/cpu/convolution.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "worker/device/cpu/kernel_gradient.h"
#include "worker/device/cpu/onednn.h"

namespace paceline::cpu {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using Format = dnnl::memory::format_tag;

namespace {

// With fewer channels, gathering patches takes longer than products save.
constexpr int64_t kManyChannels = 64;

// oneDNN's kernels for AVX2 take up to twice the time of products here.
bool IsFasterAsProducts(
    const convolution_backward_weights::primitive_desc& description,
    const ConvolutionSpec& spec, int64_t channels) {
  return absl::StrContains(description.impl_info_str(), "jit:avx2") &&
         spec.groups == 1 && channels >= kManyChannels &&
         spec.windows[0].size * spec.windows[1].size > 1;
}

}  // namespace

Convolution::Geometry Convolution::GeometryOf(const Shape& input) const {
  Geometry geometry;
  geometry.output = {input[0]};
  for (int axis = 0; axis < 2; ++axis) {
    const Window& window = spec_.windows[axis];
    const WindowExtent extent = ExtentOf(window, input[1 + axis]);
    geometry.strides.push_back(window.stride);
    geometry.dilations.push_back(window.dilation - 1);
    geometry.pad_before.push_back(extent.pad_before);
    geometry.pad_after.push_back(std::max<int64_t>(extent.pad_after, 0));
    geometry.output.push_back(extent.output);
  }
  geometry.output.push_back(spec_.filters);
  return geometry;
}

// oneDNN names dimensions in the order (batch, channels, height, width) and
// (groups, filters, channels, height, width), however they lie.
void Convolution::SetLayouts(const Shape& input) {
  geometry_ = GeometryOf(input);
  const Shape& output = geometry_.output;
  source_ = Layout({input[0], input[3], input[1], input[2]}, Format::nhwc);
  result_ = Layout({output[0], output[3], output[1], output[2]}, Format::nhwc);
  dnnl::memory::dims kernel = {spec_.filters / spec_.groups,
                               input[3] / spec_.groups, spec_.windows[0].size,
                               spec_.windows[1].size};
  const bool is_grouped = spec_.groups > 1;
  if (is_grouped) kernel.insert(kernel.begin(), spec_.groups);
  keras_kernel_ = Layout(kernel, is_grouped ? Format::hwigo : Format::hwio);
  any_kernel_ = Layout(kernel, Format::any);
  if (spec_.bias) bias_ = Layout({spec_.filters}, Format::x);
}

Tensor* Convolution::AddForward(Tensor* input, ProgramBuilder& builder) {
  input_ = input;
  SetLayouts(input->shape);
  forward_ = convolution_forward::primitive_desc(
      convolution_forward::desc(
          builder.forward_kind(), dnnl::algorithm::convolution_direct, source_,
          any_kernel_, bias_, result_, geometry_.strides, geometry_.dilations,
          geometry_.pad_before, geometry_.pad_after),
      builder.PrimitiveAttributes(spec_.relu), builder.engine());
  Tensor* const weights = builder.Reordered(
      builder.variable(spec_.kernel), keras_kernel_, forward_.weights_desc());
  Tensor* const output = builder.NewTensor(geometry_.output);
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, input, source_},
      {DNNL_ARG_WEIGHTS, weights, forward_.weights_desc()},
      {DNNL_ARG_DST, output, result_}};
  if (spec_.bias) {
    arguments.push_back({DNNL_ARG_BIAS, builder.variable(*spec_.bias), bias_});
  }
  builder.AddPrimitive(convolution_forward(forward_),
                       forward_.scratchpad_desc(), std::move(arguments));
  return output;
}

void Convolution::AddBackwardWeights(Tensor* gradient,
                                     ProgramBuilder& builder) {
  if (!builder.is_trained(spec_.kernel)) return;
  const convolution_backward_weights::primitive_desc description(
      convolution_backward_weights::desc(
          dnnl::algorithm::convolution_direct, source_, any_kernel_, bias_,
          result_, geometry_.strides, geometry_.dilations, geometry_.pad_before,
          geometry_.pad_after),
      builder.PrimitiveAttributes(), builder.engine(), forward_);
  if (IsFasterAsProducts(description, spec_, input_->shape[3])) {
    AddKernelGradient(PatchGeometry(spec_.windows, input_->shape[1],
                                    input_->shape[2], input_->shape[3]),
                      input_, gradient, builder.gradient(spec_.kernel),
                      spec_.bias ? builder.gradient(*spec_.bias) : nullptr,
                      builder);
    return FinishGradients(builder);
  }
  const dnnl::memory::desc layout = description.diff_weights_desc();
  Tensor* const target = builder.gradient(spec_.kernel);
  const bool is_direct = layout == keras_kernel_;
  Tensor* const weights_gradient =
      is_direct ? target
                : builder.NewScratch(static_cast<int64_t>(layout.get_size()));
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, input_, source_},
      {DNNL_ARG_DIFF_DST, gradient, result_},
      {DNNL_ARG_DIFF_WEIGHTS, weights_gradient, layout}};
  if (spec_.bias) {
    arguments.push_back(
        {DNNL_ARG_DIFF_BIAS, builder.gradient(*spec_.bias), bias_});
  }
  builder.AddPrimitive(convolution_backward_weights(description),
                       description.scratchpad_desc(), std::move(arguments));
  if (!is_direct) {
    builder.AddReorder({DNNL_ARG_FROM, weights_gradient, layout},
                       {DNNL_ARG_TO, target, keras_kernel_});
  }
  FinishGradients(builder);
}

void Convolution::FinishGradients(ProgramBuilder& builder) {
  builder.FinishGradient(spec_.kernel);
  if (spec_.bias) builder.FinishGradient(*spec_.bias);
}

Tensor* Convolution::AddBackwardData(Tensor* gradient,
                                     ProgramBuilder& builder) {
  const convolution_backward_data::primitive_desc description(
      convolution_backward_data::desc(
          dnnl::algorithm::convolution_direct, source_, any_kernel_, result_,
          geometry_.strides, geometry_.dilations, geometry_.pad_before,
          geometry_.pad_after),
      builder.PrimitiveAttributes(), builder.engine(), forward_);
  Tensor* const weights =
      builder.Reordered(builder.variable(spec_.kernel), keras_kernel_,
                        description.weights_desc());
  Tensor* const input_gradient = builder.NewTensor(input_->shape);
  builder.AddPrimitive(convolution_backward_data(description),
                       description.scratchpad_desc(),
                       {{DNNL_ARG_DIFF_DST, gradient, result_},
                        {DNNL_ARG_WEIGHTS, weights, description.weights_desc()},
                        {DNNL_ARG_DIFF_SRC, input_gradient, source_}});
  return input_gradient;
}

}  // namespace paceline::cpu
