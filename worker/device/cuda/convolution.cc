#include "worker/device/cuda/convolution.h"

#include "worker/device/cuda/windows_of.h"

namespace paceline::cuda {
namespace {

// `to` (columns, rows) = `from` (rows, columns) with its dimensions swapped.
void AddTranspose(const Tensor* from, int64_t rows, const Tensor* to,
                  ProgramBuilder& builder) {
  const int64_t columns = from->count() / rows;
  builder.AddKernel({from, to}, from->count(), [=] {
    return Transpose{rows, columns, ValuesOf(from), ValuesOf(to)};
  });
}

}  // namespace

bool Convolution::is_pointwise() const {
  const auto reads_each = [](const AxisWindow& axis) {
    return axis.size == 1 && axis.stride == 1;
  };
  return spec_.groups == 1 && reads_each(windows_.y) && reads_each(windows_.x);
}

Tensor* Convolution::Start(Tensor* input, ProgramBuilder& builder) {
  input_ = builder.Computed(input);
  const Shape& images = input->shape;
  windows_ = WindowsOf(WindowOver(spec_.windows, images), images);
  return builder.NewTensor(
      {images[0], windows_.y.output, windows_.x.output, spec_.filters});
}

Tensor* Convolution::AddForward(Tensor* input, ProgramBuilder& builder) {
  FinalActivation none(ActivationFunction::kLinear);
  return AddForward(input, /*bias=*/nullptr, none, builder);
}

Tensor* Convolution::AddForward(Tensor* input, const Tensor* bias,
                                FinalActivation& activation,
                                ProgramBuilder& builder) {
  Tensor* const output = Start(input, builder);
  const bool rectifies = activation.is_relu() && !is_pointwise();
  const Tensor* const added =
      rectifies || !activation.adds_bias_in_passing() ? bias : nullptr;
  if (is_pointwise()) {
    AddProduct(output, added, builder);
  } else {
    const Tensor* const kernel = builder.variable(spec_.kernel);
    kernel_ = builder.NewTensor({kernel->count()});
    AddTranspose(kernel, kernel->count() / spec_.filters, kernel_, builder);
    ConvolutionShape shape = ShapeOf(ConvolutionPass::kForward);
    shape.has_bias = added != nullptr;
    shape.has_relu = rectifies;
    builder.AddConvolution(shape, {.images = input_,
                                   .kernel = kernel_,
                                   .outputs = output,
                                   .bias = added});
  }
  if (rectifies) return activation.AddRectified(output);
  return activation.AddForward(output, added == nullptr ? bias : nullptr,
                               builder);
}

void Convolution::AddProduct(const Tensor* output, const Tensor* bias,
                             ProgramBuilder& builder) const {
  builder.AddProduct(input_, builder.variable(spec_.kernel), output,
                     {.rows = output->count() / spec_.filters,
                      .columns = spec_.filters,
                      .inner = windows_.channels},
                     {.bias = bias});
}

ConvolutionShape Convolution::ShapeOf(ConvolutionPass pass) const {
  return {.pass = pass,
          .batch = input_->shape[0],
          .windows = windows_,
          .filters = spec_.filters,
          .groups = spec_.groups};
}

void Convolution::AddKernelGradient(const Tensor* gradient,
                                    ProgramBuilder& builder) {
  if (!builder.is_trained(spec_.kernel)) return;
  gradient = builder.Computed(gradient);
  Tensor* const result = builder.gradient(spec_.kernel);
  if (is_pointwise()) {
    builder.AddProduct(input_, gradient, result,
                       {.rows = windows_.channels,
                        .columns = spec_.filters,
                        .inner = gradient->count() / spec_.filters,
                        .left_is_transposed = true});
  } else {
    Tensor* const filters_first = builder.NewTensor({result->count()});
    builder.AddConvolution(
        ShapeOf(ConvolutionPass::kKernelGradient),
        {.images = input_, .kernel = filters_first, .outputs = gradient});
    AddTranspose(filters_first, spec_.filters, result, builder);
  }
  builder.FinishGradient(spec_.kernel);
}

Tensor* Convolution::AddInputGradient(const Tensor* gradient,
                                      ProgramBuilder& builder) {
  gradient = builder.Computed(gradient);
  Tensor* const input_gradient = builder.NewTensor(input_->shape);
  if (is_pointwise()) {
    builder.AddProduct(gradient, builder.variable(spec_.kernel), input_gradient,
                       {.rows = gradient->count() / spec_.filters,
                        .columns = windows_.channels,
                        .inner = spec_.filters,
                        .right_is_transposed = true});
  } else {
    builder.AddConvolution(
        ShapeOf(ConvolutionPass::kInputGradient),
        {.images = input_gradient, .kernel = kernel_, .outputs = gradient});
  }
  return input_gradient;
}

}  // namespace paceline::cuda
