#include <algorithm>

#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {

namespace {

Tensor* AddCastToIds(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  builder.AddParallel(
      {input, output}, input->count(), 1, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          output->as<int32_t>()[i] = static_cast<int32_t>(input->floats()[i]);
        }
      });
  return output;
}

// Converts sums over a batch from float64 to float32.
Tensor* AddCastToFloats(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = FloatOutputOf(call, builder);
  builder.Add({input, output}, [=](const Step&) {
    std::transform(input->doubles(), input->doubles() + input->count(),
                   output->floats(),
                   [](double value) { return static_cast<float>(value); });
  });
  return output;
}

}  // namespace

Tensor* AddCast(const PlacedCall& call, ProgramBuilder& builder) {
  return call.output_type.type == DataType::kInt32
             ? AddCastToIds(call, builder)
             : AddCastToFloats(call, builder);
}

}  // namespace paceline::cpu
