#include "common/operations/concatenate.h"

#include "common/operations/slice.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> ConcatenateOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  TensorType output = inputs[0];
  CHECK(axis_ >= 0 && axis_ < static_cast<int>(output.shape.size()))
      << "axis " << axis_ << " of " << ToString(output);
  output.shape[axis_] = 0;
  for (const TensorType& input : inputs) {
    TensorType rest = input;
    CHECK_EQ(rest.shape.size(), output.shape.size());
    rest.shape[axis_] = output.shape[axis_];
    CHECK(rest == output) << ToString(input) << " behind "
                          << ToString(inputs[0]);
    output.shape[axis_] += input.shape[axis_];
  }
  return {output};
}

Gradients ConcatenateOperation::AddGradient(const CallGradient& call) const {
  Gradients gradients(call.inputs.size());
  int64_t start = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const int64_t size = call.inputs[i].dimension(axis_);
    if (call.wanted[i]) {
      gradients[i] = SliceAxis(*call.output_gradients[0], axis_, start, size);
    }
    start += size;
  }
  return gradients;
}

Tensor Concatenate(absl::Span<const Tensor> inputs, int axis) {
  return AddCall(
      ConcatenateOperation(axis < 0 ? axis + inputs[0].rank() : axis), inputs);
}

}  // namespace paceline::op
