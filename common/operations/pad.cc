#include "common/operations/pad.h"

#include "common/operations/slice.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> PadOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  TensorType output = inputs[0];
  CHECK_EQ(padding_.size(), output.shape.size()) << ToString(output);
  for (size_t axis = 0; axis < padding_.size(); ++axis) {
    CHECK(padding_[axis].before >= 0 && padding_[axis].after >= 0);
    output.shape[axis] += padding_[axis].before + padding_[axis].after;
  }
  return {output};
}

Gradients PadOperation::AddGradient(const CallGradient& call) const {
  Shape starts;
  for (const AxisPadding& padding : padding_) starts.push_back(padding.before);
  return {Slice(*call.output_gradients[0], starts, call.inputs[0].shape())};
}

Tensor Pad(const Tensor& x, std::vector<AxisPadding> padding, double value) {
  return AddCall(PadOperation(std::move(padding), value), {x});
}

}  // namespace paceline::op
