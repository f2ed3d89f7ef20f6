#include "common/operations/pooling.h"
#include "worker/device/cuda/operations/operations.h"
#include "worker/device/cuda/windows_of.h"

namespace paceline::cuda {

Tensor* AddAveragePooling(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const PoolingFours fours = {WindowsOf(
      static_cast<const op::AveragePoolingOperation&>(call.operation).window(),
      input->shape)};
  builder.AddKernel({input, output}, fours.IndexCount(output->count()), [=] {
    return AveragePool{fours, ValuesOf(input), ValuesOf(output)};
  });
  return output;
}

Tensor* AddAveragePoolingGradient(const PlacedCall& call,
                                  ProgramBuilder& builder) {
  const Tensor* const gradient = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const PoolingFours fours = {WindowsOf(
      static_cast<const op::AveragePoolingGradientOperation&>(call.operation)
          .window(),
      output->shape)};
  builder.AddKernel({gradient, output}, fours.IndexCount(output->count()), [=] {
    return AveragePoolBackward{fours, ValuesOf(gradient), ValuesOf(output)};
  });
  return output;
}

}  // namespace paceline::cuda
