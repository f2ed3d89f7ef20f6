#include "worker/device/cuda/kernels/elementwise.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {
namespace {

using op::ElementFunction;

// Whether the operation is a single function of inputs that are not broadcast.
// A separate kernel for each such function reads nothing but the elements.
bool IsOne(ElementFunction function, const PlacedCall& call) {
  const auto& instructions =
      static_cast<const op::ElementwiseOperation&>(call.operation)
          .instructions();
  return instructions.size() == 1 && instructions[0].function == function &&
         call.inputs.size() == 2 &&
         call.inputs[0]->shape == call.output_type.shape &&
         call.inputs[1]->shape == call.output_type.shape;
}

}  // namespace

Tensor* AddElementwise(const PlacedCall& call, ProgramBuilder& builder) {
  const absl::Span<Tensor* const> inputs = call.inputs;
  Tensor* const output = InPlaceOutputOf(call, builder);
  if (IsOne(ElementFunction::kAdd, call)) {
    builder.AddSum(inputs[0], inputs[1], output);
    return output;
  }
  ComputeElementwise kernel;
  kernel.input_count = static_cast<int>(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    kernel.inputs[i].axes = MakeBroadcastAxes(inputs[i]->shape, output->shape);
  }
  const auto& operation =
      static_cast<const op::ElementwiseOperation&>(call.operation);
  for (const op::ElementInstruction& each : operation.instructions()) {
    kernel.instructions[kernel.instruction_count++] = {
        each.function, static_cast<uint8_t>(each.a),
        static_cast<uint8_t>(each.b), static_cast<uint8_t>(each.c),
        static_cast<float>(each.constant)};
  }
  std::vector<const Tensor*> used(inputs.begin(), inputs.end());
  used.push_back(output);
  builder.AddKernel(used, output->count(), [kernel, used]() mutable {
    for (int i = 0; i < kernel.input_count; ++i) {
      kernel.inputs[i].values = ValuesOf(used[i]);
    }
    kernel.outputs = ValuesOf(used.back());
    return kernel;
  });
  return output;
}

}  // namespace paceline::cuda
