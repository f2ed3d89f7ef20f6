#include "common/operations/pad.h"

#include "worker/device/box_axes.h"
#include "worker/device/program/operations/operations.h"

namespace paceline {

Tensor* AddPad(const PlacedCall& call, LayoutBuilder& builder) {
  const auto& pad = static_cast<const op::PadOperation&>(call.operation);
  const Tensor* const input = call.inputs[0];
  Tensor* const output = builder.NewMoved(input, call.output_type.shape);
  Shape starts;
  for (const op::AxisPadding& axis : pad.padding()) {
    starts.push_back(axis.before);
  }
  builder.AddPadding(input, MakeBoxAxes(starts, input->shape, output->shape),
                     pad.value(), output);
  return output;
}

}  // namespace paceline
