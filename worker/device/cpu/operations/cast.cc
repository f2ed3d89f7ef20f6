#include "common/operations/cast.h"

#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {

bool IsCastToIds(const op::Operation& operation,
                 absl::Span<const op::TensorType> /*inputs*/) {
  return static_cast<const op::CastOperation&>(operation).type() ==
         DataType::kInt32;
}

Tensor* AddCast(const PlacedCall& call, ProgramBuilder& builder) {
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

}  // namespace paceline::cpu
