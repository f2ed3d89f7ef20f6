#include "common/operations/reverse.h"

#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> ReverseOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(axis_ >= 0 && axis_ < static_cast<int>(inputs[0].shape.size()))
      << "axis " << axis_ << " of " << ToString(inputs[0]);
  return {inputs[0]};
}

Gradients ReverseOperation::AddGradient(const CallGradient& call) const {
  return {Reverse(*call.output_gradients[0], axis_)};
}

}  // namespace paceline::op
