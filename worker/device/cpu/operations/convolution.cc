#include "common/operations/convolution.h"

#include <algorithm>
#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "worker/device/cpu/kernel_gradient.h"
#include "worker/device/cpu/onednn.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/cpu/parallel.h"

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

// Most parts of a batch for each thread.
constexpr int64_t kMaxPartsPerThread = 4;
// Fewest multiplications in a part: they take far longer than to start it.
constexpr int64_t kMinProducts = 4 << 20;
// Fewest pixels of the output in a part, so that it reads the kernel, or adds
// its gradient up, in little time beside that of the products.
constexpr int64_t kMinPixels = 256;
constexpr int64_t kMinPixelsOfKernelGradient = 2048;

// With fewer pixels for each thread, a convolution is not split: oneDNN, which
// may split channels instead, keeps more threads busy and sums less up.
constexpr int64_t kLeastPixels = 128;

// How many parts of a batch the threads compute.
int64_t PartCount(const Shape& output, const Shape& kernel,
                  int64_t min_pixels) {
  const int64_t threads = ThreadCount();
  const int64_t pixels = output[0] * output[1] * output[2];
  if (threads == 1 || output[0] < threads || pixels < threads * kLeastPixels) {
    return 1;
  }
  const int64_t products = pixels * NumElements(kernel);
  int64_t each = 1;
  while (each < kMaxPartsPerThread &&
         pixels >= 2 * each * threads * min_pixels &&
         products >= 2 * each * threads * kMinProducts) {
    each *= 2;
  }
  return std::min(output[0], each * threads);
}

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

// A part of a batch, for a primitive of its own.
template <typename Primitive>
struct Part {
  // The first example.
  int64_t begin = 0;
  Description description;
  typename Primitive::primitive_desc primitive_desc;
  Primitive primitive;
};

dnnl::memory::desc KernelLayout(
    const convolution_backward_weights::primitive_desc& primitive) {
  return primitive.diff_weights_desc();
}
template <typename PrimitiveDesc>
dnnl::memory::desc KernelLayout(const PrimitiveDesc& primitive) {
  return primitive.weights_desc();
}

// Splits a batch into parts of which each thread takes the next, so that one
// that has to share its core computes fewer. oneDNN 2.6 would split the work
// evenly, and in gradients of kernels its threads wait for each other in loops
// that spin, also while the other thread has no core. `describe` makes the
// Description of a number of examples, `create` the primitive_desc of a
// Description. Falls back to one part if parts prefer different layouts of the
// kernel.
template <typename Primitive, typename Describe, typename Create>
std::vector<Part<Primitive>> Split(int64_t batch, int64_t part_count,
                                   Describe describe, Create create) {
  const auto part = [&](int64_t begin, int64_t end) -> Part<Primitive> {
    const Description description = describe(end - begin);
    const typename Primitive::primitive_desc primitive_desc =
        create(description);
    return {begin, description, primitive_desc, Primitive(primitive_desc)};
  };
  if (part_count > 1) {
    // Around both, since oneDNN's cache tells primitives apart by the number of
    // threads at the time when they are asked for.
    const OneThread one_thread;
    std::vector<Part<Primitive>> parts;
    for (int64_t i = 0; i < part_count; ++i) {
      parts.push_back(
          part(batch * i / part_count, batch * (i + 1) / part_count));
    }
    const auto layout = [](const Part<Primitive>& each) {
      return KernelLayout(each.primitive_desc);
    };
    if (absl::c_all_of(parts, [&](const Part<Primitive>& each) {
          return layout(each) == layout(parts[0]);
        })) {
      return parts;
    }
  }
  return {part(0, batch)};
}

op::TensorType WithBatch(op::TensorType type, int64_t batch) {
  type.shape[0] = batch;
  return type;
}

// An argument that begins with example `begin` of `images`.
PrimitiveArgument From(int64_t begin, int index, Tensor* images,
                       const dnnl::memory::desc& layout) {
  const int64_t example_bytes = images->count() / images->shape[0] *
                                static_cast<int64_t>(SizeOf(images->type));
  return {index, images, layout, begin * example_bytes};
}

// sums[0] += sums[1] + …, in this order; all have `count` elements.
void AddSums(std::vector<Tensor*> sums, int64_t count,
             ProgramBuilder& builder) {
  if (sums.size() == 1) return;
  const std::vector<const Tensor*> used(sums.begin(), sums.end());
  builder.AddParallel(used, count, static_cast<int64_t>(sums.size()),
                      [sums = std::move(sums)](int64_t begin, int64_t end) {
                        float* const sum = sums[0]->as<float>();
                        for (size_t i = 1; i < sums.size(); ++i) {
                          const float* const part = sums[i]->as<float>();
                          for (int64_t j = begin; j < end; ++j) {
                            sum[j] += part[j];
                          }
                        }
                      });
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
  const auto parts = Split<convolution_forward>(
      input->shape[0],
      PartCount(call.output_type.shape, call.inputs[1]->shape, kMinPixels),
      [&](int64_t count) {
        return Description(operation.parameters(),
                           WithBatch(TypeOf(input), count),
                           WithBatch(output_type, count), has_bias, builder);
      },
      [&](const Description& description) {
        return convolution_forward::primitive_desc(
            convolution_forward::desc(
                builder.forward_kind(), dnnl::algorithm::convolution_direct,
                description.input.factors, description.any_kernel,
                description.bias, description.output.values,
                description.strides, description.dilations,
                description.pad_before, description.pad_after),
            builder.PrimitiveAttributes(), builder.engine());
      });
  const dnnl::memory::desc kernel_layout =
      KernelLayout(parts[0].primitive_desc);
  Tensor* const factors =
      builder.Converted(input, parts[0].description.compute_type);
  Tensor* const kernel = builder.Reordered(
      call.inputs[1], parts[0].description.keras_kernel, kernel_layout);
  Tensor* const output = builder.NewTensor(output_type.shape, output_type.type);
  std::vector<ProgramBuilder::PlacedPrimitive> primitives;
  for (const auto& [begin, description, primitive_desc, primitive] : parts) {
    std::vector<PrimitiveArgument> arguments = {
        From(begin, DNNL_ARG_SRC, factors, description.input.factors),
        {DNNL_ARG_WEIGHTS, kernel, kernel_layout},
        From(begin, DNNL_ARG_DST, output, description.output.values)};
    if (has_bias) {
      arguments.push_back({DNNL_ARG_BIAS, call.inputs[2], description.bias});
    }
    primitives.push_back(
        {primitive, primitive_desc.scratchpad_desc(), std::move(arguments)});
  }
  builder.AddPrimitives(std::move(primitives));
  return output;
}

Tensor* AddConvolutionInputGradient(const PlacedCall& call,
                                    ProgramBuilder& builder) {
  Tensor* const gradient = call.inputs[0];
  const op::ConvolutionParameters& parameters =
      static_cast<const op::ConvolutionInputGradientOperation&>(call.operation)
          .parameters();
  const auto parts = Split<convolution_backward_data>(
      gradient->shape[0],
      PartCount(gradient->shape, call.inputs[1]->shape, kMinPixels),
      [&](int64_t count) {
        return Description(parameters, WithBatch(call.output_type, count),
                           WithBatch(TypeOf(gradient), count),
                           /*has_bias=*/false, builder);
      },
      [&](const Description& description) {
        return WithoutForward<convolution_backward_data>(
            {dnnl::algorithm::convolution_direct, description.input.values,
             description.any_kernel, description.output.factors,
             description.strides, description.dilations, description.pad_before,
             description.pad_after},
            builder);
      });
  const dnnl::memory::desc kernel_layout =
      KernelLayout(parts[0].primitive_desc);
  Tensor* const factors =
      builder.Converted(gradient, parts[0].description.compute_type);
  Tensor* const kernel = builder.Reordered(
      call.inputs[1], parts[0].description.keras_kernel, kernel_layout);
  Tensor* const input_gradient = OutputOf(call, builder);
  std::vector<ProgramBuilder::PlacedPrimitive> primitives;
  for (const auto& [begin, description, primitive_desc, primitive] : parts) {
    primitives.push_back(
        {primitive,
         primitive_desc.scratchpad_desc(),
         {From(begin, DNNL_ARG_DIFF_DST, factors, description.output.factors),
          {DNNL_ARG_WEIGHTS, kernel, kernel_layout},
          From(begin, DNNL_ARG_DIFF_SRC, input_gradient,
               description.input.values)}});
  }
  builder.AddPrimitives(std::move(primitives));
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
  const auto parts = Split<convolution_backward_weights>(
      input->shape[0],
      PartCount(gradient->shape, call.output_type.shape,
                kMinPixelsOfKernelGradient),
      [&](int64_t count) {
        return Description(parameters, WithBatch(TypeOf(input), count),
                           WithBatch(TypeOf(gradient), count),
                           operation.has_row_sum(), builder);
      },
      [&](const Description& description) {
        return WithoutForward<convolution_backward_weights>(
            {dnnl::algorithm::convolution_direct, description.input.factors,
             description.any_kernel_gradient, description.bias,
             description.output.factors, description.strides,
             description.dilations, description.pad_before,
             description.pad_after},
            builder);
      });
  Tensor* const kernel_gradient = OutputOf(call, builder);
  if (IsFasterAsProducts(parts[0].primitive_desc, parameters,
                         input->shape.back())) {
    AddKernelGradient({.window = parameters.window,
                       .height = input->shape[1],
                       .width = input->shape[2],
                       .channels = input->shape[3]},
                      input, gradient, kernel_gradient, row_sum, builder);
    return kernel_gradient;
  }
  const dnnl::memory::desc& keras_kernel = parts[0].description.keras_kernel;
  const dnnl::memory::desc layout = KernelLayout(parts[0].primitive_desc);
  Tensor* const input_factors =
      builder.Converted(input, parts[0].description.compute_type);
  Tensor* const factors =
      builder.Converted(gradient, parts[0].description.compute_type);
  std::vector<ProgramBuilder::PlacedPrimitive> primitives;
  std::vector<Tensor*> sums;
  std::vector<Tensor*> row_sums;
  for (const auto& [begin, description, primitive_desc, primitive] : parts) {
    sums.push_back(
        sums.empty() && layout == keras_kernel
            ? kernel_gradient
            : builder.NewScratch(static_cast<int64_t>(layout.get_size())));
    std::vector<PrimitiveArgument> arguments = {
        From(begin, DNNL_ARG_SRC, input_factors, description.input.factors),
        From(begin, DNNL_ARG_DIFF_DST, factors, description.output.factors),
        {DNNL_ARG_DIFF_WEIGHTS, sums.back(), layout}};
    if (row_sum != nullptr) {
      row_sums.push_back(row_sums.empty() ? row_sum
                                          : builder.NewTensor(row_sum->shape));
      arguments.push_back(
          {DNNL_ARG_DIFF_BIAS, row_sums.back(), description.bias});
    }
    primitives.push_back(
        {primitive, primitive_desc.scratchpad_desc(), std::move(arguments)});
  }
  builder.AddPrimitives(std::move(primitives));
  AddSums(sums, static_cast<int64_t>(layout.get_size() / sizeof(float)),
          builder);
  if (row_sum != nullptr) AddSums(row_sums, row_sum->count(), builder);
  if (sums[0] != kernel_gradient) {
    builder.AddReorder({DNNL_ARG_FROM, sums[0], layout},
                       {DNNL_ARG_TO, kernel_gradient, keras_kernel});
  }
  return kernel_gradient;
}

}  // namespace paceline::cpu
