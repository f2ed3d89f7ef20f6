#include "worker/device/cuda/kernels/elementwise.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {
namespace {

using op::ElementFunction;

using Instructions = std::vector<op::ElementInstruction>;

// Whether all inputs are reals, and none is broadcast.
bool IsOfWholeReals(const PlacedCall& call) {
  return std::all_of(call.inputs.begin(), call.inputs.end(),
                     [&](const Tensor* input) {
                       return input->shape == call.output_type.shape &&
                              input->type != DataType::kBool &&
                              input->type != DataType::kInt32;
                     });
}

// Whether the instructions are input 0 · (0 < input 1), the gradient of a
// rectifier.
bool IsRectifierGradient(const Instructions& instructions) {
  return instructions.size() == 3 &&
         instructions[0].function == ElementFunction::kConstant &&
         instructions[0].constant == 0 &&
         instructions[1].function == ElementFunction::kLess &&
         instructions[1].a == 2 && instructions[1].b == 1 &&
         instructions[2].function == ElementFunction::kMultiply &&
         instructions[2].a == 0 && instructions[2].b == 3;
}

void AddOneFunction(const op::ElementInstruction& instruction,
                    absl::Span<Tensor* const> inputs, Tensor* output,
                    ProgramBuilder& builder) {
  const int operands[] = {instruction.a, instruction.b, instruction.c};
  std::vector<const Tensor*> read;
  for (int i = 0; i < op::OperandCount(instruction.function); ++i) {
    read.push_back(inputs[operands[i]]);
  }
  builder.AddFunction(instruction.function, read, output);
}

void AddRectifierGradient(const Tensor* gradient, const Tensor* rectified,
                          const Tensor* output, ProgramBuilder& builder) {
  builder.AddKernel(
      {gradient, rectified, output}, FourBlocks(output->count()), [=] {
        return RectifyGradients{output->count(), ValuesOf(gradient),
                                ValuesOf(rectified), ValuesOf(output)};
      });
}

void AddInterpreted(const Instructions& instructions,
                    absl::Span<Tensor* const> inputs, Tensor* output,
                    ProgramBuilder& builder) {
  ComputeElementwise kernel;
  kernel.count = output->count();
  kernel.input_count = static_cast<int>(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    kernel.inputs[i].axes = MakeBroadcastAxes(inputs[i]->shape, output->shape);
  }
  for (const op::ElementInstruction& each : instructions) {
    kernel.instructions[kernel.instruction_count++] = {
        each.function, static_cast<uint8_t>(each.a),
        static_cast<uint8_t>(each.b), static_cast<uint8_t>(each.c),
        static_cast<float>(each.constant)};
  }
  std::vector<const Tensor*> used(inputs.begin(), inputs.end());
  used.push_back(output);
  builder.AddKernel(used, FourBlocks(kernel.count), [kernel, used]() mutable {
    for (int i = 0; i < kernel.input_count; ++i) {
      kernel.inputs[i].values = ValuesOf(used[i]);
    }
    kernel.outputs = ValuesOf(used.back());
    return kernel;
  });
}

}  // namespace

Tensor* AddElementwise(const PlacedCall& call, ProgramBuilder& builder) {
  Tensor* const output = InPlaceOutputOf(call, builder);
  const Instructions& instructions =
      static_cast<const op::ElementwiseOperation&>(call.operation)
          .instructions();
  // The most frequent programs have kernels of their own, which take as long
  // as memory does.
  const bool is_of_whole_reals = IsOfWholeReals(call);
  if (is_of_whole_reals && instructions.size() == 1 &&
      instructions[0].function != ElementFunction::kConstant) {
    AddOneFunction(instructions[0], call.inputs, output, builder);
  } else if (is_of_whole_reals && IsRectifierGradient(instructions)) {
    AddRectifierGradient(call.inputs[0], call.inputs[1], output, builder);
  } else {
    AddInterpreted(instructions, call.inputs, output, builder);
  }
  return output;
}

}  // namespace paceline::cuda
