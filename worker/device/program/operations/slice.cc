#include "common/operations/slice.h"

#include "worker/device/box_axes.h"
#include "worker/device/program/operations/operations.h"

namespace paceline {

Tensor* AddSlice(const PlacedCall& call, LayoutBuilder& builder) {
  const Shape& starts =
      static_cast<const op::SliceOperation&>(call.operation).starts();
  const Tensor* const input = call.inputs[0];
  Tensor* const output = builder.NewMoved(input, call.output_type.shape);
  builder.AddBoxRead(input, MakeBoxAxes(starts, output->shape, input->shape),
                     output);
  return output;
}

}  // namespace paceline
