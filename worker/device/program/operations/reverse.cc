#include "common/operations/reverse.h"

#include "worker/device/permuted_axes.h"
#include "worker/device/program/operations/operations.h"

namespace paceline {

Tensor* AddReverse(const PlacedCall& call, LayoutBuilder& builder) {
  const int axis =
      static_cast<const op::ReverseOperation&>(call.operation).axis();
  Tensor* const input = call.inputs[0];
  Tensor* const output = builder.NewMoved(input, call.output_type.shape);
  builder.AddPermutation(input, MakeReversedAxes(input->shape, axis), output);
  return output;
}

}  // namespace paceline
