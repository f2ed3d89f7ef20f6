#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {

namespace {

Tensor* AddCastToIds(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  builder.AddKernel({input, output}, input->count(), [=] {
    return CastToInt32{ValuesOf(input), output->as<int32_t>()};
  });
  return output;
}

// Converts sums over a batch. A column sum over a single row is a conversion.
Tensor* AddCastToFloats(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = FloatOutputOf(call, builder);
  const int64_t count = input->count();
  builder.AddKernel({input, output}, count, [=] {
    return SumsOfDoubles<float>{1, count, 1, input->doubles(),
                                output->floats()};
  });
  return output;
}

}  // namespace

Tensor* AddCast(const PlacedCall& call, ProgramBuilder& builder) {
  return call.output_type.type == DataType::kInt32
             ? AddCastToIds(call, builder)
             : AddCastToFloats(call, builder);
}

}  // namespace paceline::cuda
