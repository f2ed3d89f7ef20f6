#include "common/operations/pooling.h"
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
  const PoolingFours fours = {WindowsOf(
      static_cast<const op::MaxPoolingOperation&>(call.operation).window(),
      input->shape)};
  builder.AddKernel({input, output}, fours.IndexCount(output->count()), [=] {
    return MaxPool{fours, ValuesOf(input), ValuesOf(output)};
  });
  return output;
}

Tensor* AddMaxPoolingGradient(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const output = call.inputs[1];
  const Tensor* const output_gradient = call.inputs[2];
  // Forward compared inputs that were rounded like the output.
  const Tensor* const input = output->type == DataType::kFloat32
                                  ? call.inputs[0]
                                  : builder.Computed(call.inputs[0]);
  Tensor* const input_gradient = OutputOf(call, builder);
  const PoolingFours fours = {WindowsOf(
      static_cast<const op::MaxPoolingGradientOperation&>(call.operation)
          .window(),
      input->shape)};
  const int64_t windows = fours.IndexCount(output->count());
  Tensor* const positions = builder.NewTensor<FourPositions>({windows});
  builder.AddKernel({input, positions}, windows, [=] {
    return MaxPoolPositions{fours, ValuesOf(input),
                            positions->as<FourPositions>()};
  });
  builder.AddKernel({positions, output_gradient, input_gradient},
                    fours.IndexCount(input->count()), [=] {
                      return MaxPoolBackward{
                          fours, positions->as<FourPositions>(),
                          ValuesOf(output_gradient), ValuesOf(input_gradient)};
                    });
  return input_gradient;
}

}  // namespace paceline::cuda
