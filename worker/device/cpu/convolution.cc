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
  return description.src_desc().data_type() == dnnl::memory::data_type::f32 &&
         absl::StrContains(description.impl_info_str(), "jit:avx2") &&
         spec.groups == 1 && channels >= kManyChannels &&
         spec.windows[0].size * spec.windows[1].size > 1;
}

// What a depthwise convolution reads is multiplied a few times only: rounding
// it to bfloat16 takes as long as that saves.
DataType FactorType(const ConvolutionSpec& spec, const Tensor& input,
                    const ProgramBuilder& builder) {
  const bool is_depthwise = spec.groups > 1 && spec.groups == input.shape[3];
  return is_depthwise ? input.type : builder.factor_type();
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
void Convolution::SetLayouts(const Tensor& input, DataType factor_type) {
  geometry_ = GeometryOf(input.shape);
  const auto image = [factor_type](const Shape& shape,
                                   DataType type) -> ImageLayout {
    const dnnl::memory::dims dims = {shape[0], shape[3], shape[1], shape[2]};
    return {type, Layout(dims, Format::nhwc, type),
            Layout(dims, Format::nhwc, factor_type)};
  };
  const int64_t channels = input.shape[3];
  source_ = image(input.shape, input.type);
  result_ = image(geometry_.output,
                  spec_.is_read_as_factors ? factor_type : DataType::kFloat32);
  dnnl::memory::dims kernel = {spec_.filters / spec_.groups,
                               channels / spec_.groups, spec_.windows[0].size,
                               spec_.windows[1].size};
  const bool is_grouped = spec_.groups > 1;
  if (is_grouped) kernel.insert(kernel.begin(), spec_.groups);
  keras_kernel_ = Layout(kernel, is_grouped ? Format::hwigo : Format::hwio);
  any_kernel_ = Layout(kernel, Format::any, factor_type);
  any_kernel_gradient_ = Layout(kernel, Format::any);
  if (spec_.bias) bias_ = Layout({spec_.filters}, Format::x);
}

Tensor* Convolution::AddForward(Tensor* input, ProgramBuilder& builder) {
  input_ = input;
  SetLayouts(*input, FactorType(spec_, *input, builder));
  forward_ = convolution_forward::primitive_desc(
      convolution_forward::desc(
          builder.forward_kind(), dnnl::algorithm::convolution_direct,
          source_.factors, any_kernel_, bias_, result_.values,
          geometry_.strides, geometry_.dilations, geometry_.pad_before,
          geometry_.pad_after),
      builder.PrimitiveAttributes(), builder.engine());
  input_factors_ = builder.Reordered(input, source_.values, source_.factors);
  Tensor* const weights = builder.Reordered(
      builder.variable(spec_.kernel), keras_kernel_, forward_.weights_desc());
  Tensor* const output = builder.NewTensor(geometry_.output, result_.type);
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, input_factors_, source_.factors},
      {DNNL_ARG_WEIGHTS, weights, forward_.weights_desc()},
      {DNNL_ARG_DST, output, result_.values}};
  if (spec_.bias) {
    arguments.push_back({DNNL_ARG_BIAS, builder.variable(*spec_.bias), bias_});
  }
  builder.AddPrimitive(convolution_forward(forward_),
                       forward_.scratchpad_desc(), std::move(arguments));
  return output;
}

Tensor* Convolution::AddBackward(Tensor* gradient, bool wants_input,
                                 ProgramBuilder& builder) {
  const bool is_trained = builder.is_trained(spec_.kernel);
  if (!is_trained && !wants_input) return nullptr;
  Tensor* const factors =
      builder.Reordered(gradient, result_.values, result_.factors);
  if (is_trained) {
    AddBackwardWeights(gradient, factors, builder);
    builder.FinishGradient(spec_.kernel);
    if (spec_.bias) builder.FinishGradient(*spec_.bias);
  }
  return wants_input ? AddBackwardData(factors, builder) : nullptr;
}

void Convolution::AddBackwardWeights(Tensor* gradient, Tensor* gradient_factors,
                                     ProgramBuilder& builder) {
  const convolution_backward_weights::primitive_desc description(
      convolution_backward_weights::desc(
          dnnl::algorithm::convolution_direct, source_.factors,
          any_kernel_gradient_, bias_, result_.factors, geometry_.strides,
          geometry_.dilations, geometry_.pad_before, geometry_.pad_after),
      builder.PrimitiveAttributes(), builder.engine(), forward_);
  if (IsFasterAsProducts(description, spec_, input_->shape[3])) {
    return AddKernelGradient(
        PatchGeometry(spec_.windows, input_->shape[1], input_->shape[2],
                      input_->shape[3]),
        input_, gradient, builder.gradient(spec_.kernel),
        spec_.bias ? builder.gradient(*spec_.bias) : nullptr, builder);
  }
  const dnnl::memory::desc layout = description.diff_weights_desc();
  Tensor* const target = builder.gradient(spec_.kernel);
  const bool is_direct = layout == keras_kernel_;
  Tensor* const weights_gradient =
      is_direct ? target
                : builder.NewScratch(static_cast<int64_t>(layout.get_size()));
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, input_factors_, source_.factors},
      {DNNL_ARG_DIFF_DST, gradient_factors, result_.factors},
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
}

Tensor* Convolution::AddBackwardData(Tensor* gradient_factors,
                                     ProgramBuilder& builder) {
  const convolution_backward_data::primitive_desc description(
      convolution_backward_data::desc(
          dnnl::algorithm::convolution_direct, source_.values, any_kernel_,
          result_.factors, geometry_.strides, geometry_.dilations,
          geometry_.pad_before, geometry_.pad_after),
      builder.PrimitiveAttributes(), builder.engine(), forward_);
  Tensor* const weights =
      builder.Reordered(builder.variable(spec_.kernel), keras_kernel_,
                        description.weights_desc());
  Tensor* const input_gradient = builder.NewTensor(input_->shape, source_.type);
  builder.AddPrimitive(convolution_backward_data(description),
                       description.scratchpad_desc(),
                       {{DNNL_ARG_DIFF_DST, gradient_factors, result_.factors},
                        {DNNL_ARG_WEIGHTS, weights, description.weights_desc()},
                        {DNNL_ARG_DIFF_SRC, input_gradient, source_.values}});
  return input_gradient;
}

}  // namespace paceline::cpu
