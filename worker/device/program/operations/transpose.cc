#include "common/operations/transpose.h"

#include "worker/device/permuted_axes.h"
#include "worker/device/program/operations/operations.h"

namespace paceline {

Tensor* AddTranspose(const PlacedCall& call, LayoutBuilder& builder) {
  const Tensor* const input = call.inputs[0];
  Tensor* const output = builder.NewMoved(input, call.output_type.shape);
  builder.AddPermutation(
      input,
      MakePermutedAxes(input->shape, static_cast<const op::TransposeOperation&>(
                                         call.operation)
                                         .permutation()),
      output);
  return output;
}

}  // namespace paceline
