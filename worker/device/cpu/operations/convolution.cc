#include "common/operations/convolution.h"

#include <algorithm>
#include <dnnl.hpp>
#include <vector>

#include "absl/strings/match.h"
#include "worker/device/cpu/batch_parts.h"
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
  // The same convolution of another number of examples.
  Description WithBatch(int64_t count) const;

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

ImageLayout WithBatch(const ImageLayout& images, int64_t count) {
  dnnl::memory::dims dims = images.values.dims();
  dims[0] = count;
  return {{dims, images.values.data_type(), Format::nhwc},
          {dims, images.factors.data_type(), Format::nhwc}};
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

Description Description::WithBatch(int64_t count) const {
  Description part = *this;
  part.input = cpu::WithBatch(input, count);
  part.output = cpu::WithBatch(output, count);
  return part;
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

convolution_backward_weights::primitive_desc KernelGradientOf(
    const Description& description, const ProgramBuilder& builder) {
  return WithoutForward<convolution_backward_weights>(
      {dnnl::algorithm::convolution_direct, description.input.factors,
       description.any_kernel_gradient, description.bias,
       description.output.factors, description.strides, description.dilations,
       description.pad_before, description.pad_after},
      builder);
}

// Whether im2col with a matrix product is faster than oneDNN: its AVX2 kernels
// take up to twice the time in these cases.
bool IsFasterAsProducts(const op::ConvolutionParameters& parameters,
                        int64_t channels, const Description& description,
                        const ProgramBuilder& builder) {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto avx512 = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (isa & avx512) != avx512 &&
         description.compute_type == DataType::kFloat32 &&
         parameters.groups == 1 && channels >= kManyChannels &&
         parameters.window[0].size * parameters.window[1].size > 1 &&
         absl::StrContains(
             KernelGradientOf(description, builder).impl_info_str(),
             "jit:avx2");
}

using KernelGradientParts = std::vector<Part<convolution_backward_weights>>;

// Adds the gradients of the parts, and their sums. `row_sum` may be null.
void AddSummedParts(const KernelGradientParts& parts,
                    const Description& description, Tensor* input,
                    Tensor* gradient, Tensor* kernel_gradient, Tensor* row_sum,
                    ProgramBuilder& builder) {
  const dnnl::memory::desc layout = KernelLayout(parts[0].description);
  Tensor* const input_factors =
      builder.Converted(input, description.compute_type);
  Tensor* const factors = builder.Converted(gradient, description.compute_type);
  std::vector<Tensor*> sums;
  std::vector<Tensor*> row_sums;
  AddParts(
      parts,
      [&](const Part<convolution_backward_weights>& part) {
        sums.push_back(
            sums.empty() && layout == description.keras_kernel
                ? kernel_gradient
                : builder.NewScratch(static_cast<int64_t>(layout.get_size())));
        std::vector<PrimitiveArgument> arguments = {
            From(part.begin, DNNL_ARG_SRC, input_factors,
                 part.description.src_desc()),
            From(part.begin, DNNL_ARG_DIFF_DST, factors,
                 part.description.diff_dst_desc()),
            {DNNL_ARG_DIFF_WEIGHTS, sums.back(), layout}};
        if (row_sum != nullptr) {
          row_sums.push_back(
              row_sums.empty() ? row_sum : builder.NewTensor(row_sum->shape));
          arguments.push_back(
              {DNNL_ARG_DIFF_BIAS, row_sums.back(), description.bias});
        }
        return arguments;
      },
      builder);
  AddSums(sums, static_cast<int64_t>(layout.get_size() / sizeof(float)),
          builder);
  if (row_sum != nullptr) AddSums(row_sums, row_sum->count(), builder);
  if (sums[0] != kernel_gradient) {
    builder.AddReorder(
        {DNNL_ARG_FROM, sums[0], layout},
        {DNNL_ARG_TO, kernel_gradient, description.keras_kernel});
  }
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
  const Description whole(operation.parameters(), TypeOf(input), output_type,
                          has_bias, builder);
  const auto parts = Split<convolution_forward>(
      input->shape[0],
      PartCount(output_type.shape, call.inputs[1]->shape, PartsOf::kImages),
      [&](int64_t count) {
        const Description description = whole.WithBatch(count);
        return convolution_forward::primitive_desc(
            convolution_forward::desc(
                builder.forward_kind(), dnnl::algorithm::convolution_direct,
                description.input.factors, description.any_kernel,
                description.bias, description.output.values,
                description.strides, description.dilations,
                description.pad_before, description.pad_after),
            builder.PrimitiveAttributes(), builder.engine());
      });
  const dnnl::memory::desc kernel_layout = KernelLayout(parts[0].description);
  Tensor* const factors = builder.Converted(input, whole.compute_type);
  Tensor* const kernel =
      builder.Reordered(call.inputs[1], whole.keras_kernel, kernel_layout);
  Tensor* const output = builder.NewTensor(output_type.shape, output_type.type);
  AddParts(
      parts,
      [&](const Part<convolution_forward>& part) {
        std::vector<PrimitiveArgument> arguments = {
            From(part.begin, DNNL_ARG_SRC, factors,
                 part.description.src_desc()),
            {DNNL_ARG_WEIGHTS, kernel, kernel_layout},
            From(part.begin, DNNL_ARG_DST, output,
                 part.description.dst_desc())};
        if (has_bias) {
          arguments.push_back({DNNL_ARG_BIAS, call.inputs[2], whole.bias});
        }
        return arguments;
      },
      builder);
  return output;
}

Tensor* AddConvolutionInputGradient(const PlacedCall& call,
                                    ProgramBuilder& builder) {
  Tensor* const gradient = call.inputs[0];
  const Description whole(
      static_cast<const op::ConvolutionInputGradientOperation&>(call.operation)
          .parameters(),
      call.output_type, TypeOf(gradient), /*has_bias=*/false, builder);
  const auto parts = Split<convolution_backward_data>(
      gradient->shape[0],
      PartCount(gradient->shape, call.inputs[1]->shape, PartsOf::kImages),
      [&](int64_t count) {
        const Description description = whole.WithBatch(count);
        return WithoutForward<convolution_backward_data>(
            {dnnl::algorithm::convolution_direct, description.input.values,
             description.any_kernel, description.output.factors,
             description.strides, description.dilations, description.pad_before,
             description.pad_after},
            builder);
      });
  const dnnl::memory::desc kernel_layout = KernelLayout(parts[0].description);
  Tensor* const factors = builder.Converted(gradient, whole.compute_type);
  Tensor* const kernel =
      builder.Reordered(call.inputs[1], whole.keras_kernel, kernel_layout);
  Tensor* const input_gradient = OutputOf(call, builder);
  AddParts(
      parts,
      [&](const Part<convolution_backward_data>& part) {
        return std::vector<PrimitiveArgument>{
            From(part.begin, DNNL_ARG_DIFF_DST, factors,
                 part.description.diff_dst_desc()),
            {DNNL_ARG_WEIGHTS, kernel, kernel_layout},
            From(part.begin, DNNL_ARG_DIFF_SRC, input_gradient,
                 part.description.diff_src_desc())};
      },
      builder);
  return input_gradient;
}

Tensor* AddConvolutionKernelGradient(const PlacedCall& call,
                                     ProgramBuilder& builder) {
  const auto& operation =
      static_cast<const op::ConvolutionKernelGradientOperation&>(
          call.operation);
  Tensor* const input = call.inputs[0];
  Tensor* const gradient = call.inputs[1];
  Tensor* const kernel_gradient = OutputOf(call, builder);
  Tensor* const row_sum =
      operation.has_row_sum() ? call.more_outputs[0] : nullptr;
  const Description whole(operation.parameters(), TypeOf(input),
                          TypeOf(gradient), operation.has_row_sum(), builder);
  if (IsFasterAsProducts(operation.parameters(), input->shape.back(), whole,
                         builder)) {
    AddKernelGradient({.window = operation.parameters().window,
                       .height = input->shape[1],
                       .width = input->shape[2],
                       .channels = input->shape[3]},
                      input, gradient, kernel_gradient, row_sum, builder);
    return kernel_gradient;
  }
  const auto parts = Split<convolution_backward_weights>(
      input->shape[0],
      PartCount(gradient->shape, call.output_type.shape,
                PartsOf::kKernelGradient),
      [&](int64_t count) {
        return KernelGradientOf(whole.WithBatch(count), builder);
      });
  AddSummedParts(parts, whole, input, gradient, kernel_gradient, row_sum,
                 builder);
  return kernel_gradient;
}

}  // namespace paceline::cpu
