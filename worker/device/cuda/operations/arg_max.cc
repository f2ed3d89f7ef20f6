#include "worker/device/cuda/kernels/arg_max.h"

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {

Tensor* AddArgMax(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  builder.AddKernel({input, output}, output->count(), [=] {
    return ArgMaxOfRows{input->shape.back(), ValuesOf(input),
                        output->as<int32_t>()};
  });
  return output;
}

}  // namespace paceline::cuda
