#include "common/operations/convolution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "worker/device/box_axes.h"
#include "worker/device/cuda/operations/operations.h"
#include "worker/device/cuda/windows_of.h"

// A 1 x 1 convolution is a matrix product of the pixels with the kernel in
// Keras' order. Others are computed by cuDNN, which expects OHWI kernels: the
// kernel is transposed once, for forward and the input's gradient, and the
// kernel's gradient is transposed back.
//
// Engines of cuDNN 9.14 compute wrong gradients of the kernel, without an
// error, where the images have more padding at one end than at the other; so
// these get images that contain their padding.
namespace paceline::cuda {
namespace {

// Whether the kernel is 1 x 1 and every pixel is read once.
bool IsPointwise(const op::ConvolutionParameters& parameters) {
  return parameters.groups == 1 &&
         std::all_of(parameters.window.begin(), parameters.window.end(),
                     [](const op::WindowAxis& axis) {
                       return axis.size == 1 && axis.stride == 1 &&
                              axis.pad_before == 0 && axis.pad_after == 0;
                     });
}

int64_t PixelCount(const Tensor* images) {
  return images->count() / images->shape.back();
}

ConvolutionShape ShapeOf(ConvolutionPass pass,
                         const op::ConvolutionParameters& parameters,
                         const Shape& images, int64_t filters) {
  return {.pass = pass,
          .batch = images[0],
          .windows = WindowsOf(parameters.window, images),
          .filters = filters,
          .groups = parameters.groups};
}

int64_t PadAfter(const op::WindowAxis& axis) {
  // Negative if the last window ends before the images do.
  return std::max<int64_t>(0, axis.pad_after);
}

bool IsPaddedEvenly(const op::Window2D& window) {
  return std::all_of(window.begin(), window.end(),
                     [](const op::WindowAxis& axis) {
                       return axis.pad_before == PadAfter(axis);
                     });
}

// The images with their padding, which `window` then has no more.
const Tensor* AddPadding(const Tensor* images, op::Window2D& window,
                         ProgramBuilder& builder) {
  Shape starts(images->shape.size());
  Shape padded = images->shape;
  for (size_t i = 0; i < window.size(); ++i) {
    op::WindowAxis& axis = window[i];
    starts[i + 1] = axis.pad_before;
    padded[i + 1] += axis.pad_before + PadAfter(axis);
    axis.pad_before = 0;
    axis.pad_after = std::min<int64_t>(0, axis.pad_after);
  }
  const Tensor* const to = builder.NewTensor(padded);
  builder.AddPadding(images, MakeBoxAxes(starts, images->shape, padded),
                     /*value=*/0, to);
  return to;
}

}  // namespace

bool IsLibraryConvolution(const op::Operation& operation,
                          absl::Span<const op::TensorType> /*inputs*/) {
  const auto& convolution =
      static_cast<const op::ConvolutionOperation&>(operation);
  return !convolution.options().rectifies ||
         !IsPointwise(convolution.parameters());
}

Tensor* AddConvolution(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& operation =
      static_cast<const op::ConvolutionOperation&>(call.operation);
  const auto& [has_bias, rectifies] = operation.options();
  const Tensor* const input = builder.Computed(call.inputs[0]);
  const Tensor* const kernel = call.inputs[1];
  const Tensor* const bias = has_bias ? call.inputs[2] : nullptr;
  Tensor* const output = OutputOf(call, builder);
  const int64_t filters = output->shape.back();
  if (IsPointwise(operation.parameters())) {
    builder.AddProduct(input, kernel, output,
                       {.rows = PixelCount(output),
                        .columns = filters,
                        .inner = input->shape.back()},
                       {.bias = bias});
    return output;
  }
  ConvolutionShape shape = ShapeOf(
      ConvolutionPass::kForward, operation.parameters(), input->shape, filters);
  shape.has_bias = has_bias;
  shape.has_relu = rectifies;
  builder.AddConvolution(shape, {.images = input,
                                 .kernel = builder.FiltersFirst(kernel),
                                 .outputs = output,
                                 .bias = bias});
  return output;
}

Tensor* AddConvolutionInputGradient(const PlacedCall& call,
                                    ProgramBuilder& builder) {
  const op::ConvolutionParameters& parameters =
      static_cast<const op::ConvolutionInputGradientOperation&>(call.operation)
          .parameters();
  const Tensor* const gradient = builder.Computed(call.inputs[0]);
  const Tensor* const kernel = call.inputs[1];
  Tensor* const input_gradient = OutputOf(call, builder);
  const int64_t filters = gradient->shape.back();
  if (IsPointwise(parameters)) {
    builder.AddProduct(gradient, kernel, input_gradient,
                       {.rows = PixelCount(gradient),
                        .columns = input_gradient->shape.back(),
                        .inner = filters,
                        .right_is_transposed = true});
    return input_gradient;
  }
  builder.AddConvolution(ShapeOf(ConvolutionPass::kInputGradient, parameters,
                                 input_gradient->shape, filters),
                         {.images = input_gradient,
                          .kernel = builder.FiltersFirst(kernel),
                          .outputs = gradient});
  return input_gradient;
}

Tensor* AddConvolutionKernelGradient(const PlacedCall& call,
                                     ProgramBuilder& builder) {
  const auto& operation =
      static_cast<const op::ConvolutionKernelGradientOperation&>(
          call.operation);
  op::ConvolutionParameters parameters = operation.parameters();
  const Tensor* input = builder.Computed(call.inputs[0]);
  const Tensor* const gradient = builder.Computed(call.inputs[1]);
  Tensor* const kernel_gradient = OutputOf(call, builder);
  const int64_t filters = gradient->shape.back();
  if (IsPointwise(parameters)) {
    builder.AddProduct(input, gradient, kernel_gradient,
                       {.rows = input->shape.back(),
                        .columns = filters,
                        .inner = PixelCount(gradient),
                        .left_is_transposed = true});
  } else {
    if (!IsPaddedEvenly(parameters.window)) {
      input = AddPadding(input, parameters.window, builder);
    }
    const Tensor* const filters_first =
        builder.NewTensor({kernel_gradient->count()});
    builder.AddConvolution(
        ShapeOf(ConvolutionPass::kKernelGradient, parameters, input->shape,
                filters),
        {.images = input, .kernel = filters_first, .outputs = gradient});
    builder.AddTranspose(filters_first, filters, kernel_gradient);
  }
  if (operation.has_row_sum()) {
    builder.AddColumnSums(call.inputs[1], PixelCount(gradient), filters,
                          call.more_outputs[0]);
  }
  return kernel_gradient;
}

}  // namespace paceline::cuda
