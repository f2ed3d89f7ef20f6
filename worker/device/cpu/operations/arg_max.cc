#include "worker/device/cpu/kernels/arg_max.h"

#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {

Tensor* AddArgMax(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const int64_t size = input->shape.back();
  builder.AddParallel(
      {input, output}, output->count(), size, [=](int64_t begin, int64_t end) {
        ArgMaxOfRows(end - begin, size, input->floats() + begin * size,
                     output->as<int32_t>() + begin);
      });
  return output;
}

}  // namespace paceline::cpu
