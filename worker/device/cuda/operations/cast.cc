#include "common/operations/cast.h"

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {

bool IsCastToIds(const op::Operation& operation,
                 absl::Span<const op::TensorType> /*inputs*/) {
  return static_cast<const op::CastOperation&>(operation).type() ==
         DataType::kInt32;
}

Tensor* AddCast(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  builder.AddKernel({input, output}, input->count(), [=] {
    return CastToInt32{ValuesOf(input), output->as<int32_t>()};
  });
  return output;
}

}  // namespace paceline::cuda
