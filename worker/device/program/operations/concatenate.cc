#include "common/operations/concatenate.h"

#include "worker/device/box_axes.h"
#include "worker/device/program/operations/operations.h"

namespace paceline {

Tensor* AddConcatenate(const PlacedCall& call, LayoutBuilder& builder) {
  const int axis =
      static_cast<const op::ConcatenateOperation&>(call.operation).axis();
  Tensor* const output =
      builder.NewMoved(call.inputs[0], call.output_type.shape);
  Shape starts(call.output_type.shape.size());
  for (const Tensor* input : call.inputs) {
    builder.AddBoxWrite(input, MakeBoxAxes(starts, input->shape, output->shape),
                        output);
    starts[axis] += input->shape[axis];
  }
  return output;
}

}  // namespace paceline
