#include "common/operations/reshape.h"

#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> ReshapeOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK_EQ(NumElements(inputs[0].shape), NumElements(shape_))
      << ToString(inputs[0]) << " to " << ShapeToString(shape_);
  return {{inputs[0].type, shape_}};
}

Gradients ReshapeOperation::AddGradient(const CallGradient& call) const {
  return {Reshape(*call.output_gradients[0], call.inputs[0].shape())};
}

Tensor Reshape(const Tensor& x, Shape shape) {
  if (x.shape() == shape) return x;
  return AddCall(ReshapeOperation(std::move(shape)), {x});
}

}  // namespace paceline::op
