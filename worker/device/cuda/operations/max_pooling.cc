#include "common/operations/pooling.h"
#include "glog/logging.h"
#include "worker/device/cuda/operations/operations.h"
#include "worker/device/cuda/windows_of.h"

namespace paceline::cuda {

bool IsPlainMaxPooling(const op::Operation& operation,
                       absl::Span<const op::TensorType> /*inputs*/) {
  return !static_cast<const op::MaxPoolingOperation&>(operation).rectifies();
}

bool IsPlainMaxPoolingGradient(const op::Operation& operation,
                               absl::Span<const op::TensorType> /*inputs*/) {
  return !static_cast<const op::MaxPoolingGradientOperation&>(operation)
              .rectifies();
}

Tensor* AddMaxPooling(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const ImageWindows windows = WindowsOf(
      static_cast<const op::MaxPoolingOperation&>(call.operation).window(),
      input->shape);
  builder.AddKernel({input, output}, output->count(), [=] {
    return MaxPool{windows, ValuesOf(input), ValuesOf(output)};
  });
  return output;
}

Tensor* AddMaxPoolingGradient(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const output = call.inputs[1];
  const Tensor* const output_gradient = call.inputs[2];
  // The kernel finds the largest input by comparing it with the output, so the
  // input must be rounded like the output.
  const Tensor* const input = output->type == DataType::kFloat32
                                  ? call.inputs[0]
                                  : builder.Computed(call.inputs[0]);
  CHECK(output->type == DataType::kFloat32 || output->type == input->type)
      << DataTypeName(output->type) << " of " << DataTypeName(input->type);
  Tensor* const input_gradient = OutputOf(call, builder);
  const ImageWindows windows = WindowsOf(
      static_cast<const op::MaxPoolingGradientOperation&>(call.operation)
          .window(),
      input->shape);
  builder.AddKernel(
      {input, output, output_gradient, input_gradient}, input->count(), [=] {
        return MaxPoolBackward{windows, ValuesOf(input), ValuesOf(output),
                               ValuesOf(output_gradient),
                               ValuesOf(input_gradient)};
      });
  return input_gradient;
}

}  // namespace paceline::cuda
