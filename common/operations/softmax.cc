#include "common/operations/softmax.h"

#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

int FromFront(const Tensor& x, int axis) {
  return axis < 0 ? axis + x.rank() : axis;
}

}  // namespace

std::vector<TensorType> RowOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const TensorType& type = inputs[0];
  CHECK(IsReal(type.type) && axis_ >= 0 &&
        axis_ < static_cast<int>(type.shape.size()))
      << name() << " of " << ToString(type) << " along axis " << axis_;
  for (const TensorType& input : inputs) {
    CHECK(input == type) << ToString(input) << " and " << ToString(type);
  }
  return {type};
}

Gradients SoftmaxOperation::AddGradient(const CallGradient& call) const {
  return {AddCall(SoftmaxGradientOperation(axis()),
                  {call.outputs[0], *call.output_gradients[0]})};
}

Gradients SoftmaxGradientOperation::AddGradient(
    const CallGradient& call) const {
  const Tensor& y = call.inputs[0];
  const Tensor& dy = call.inputs[1];
  const Tensor& g = *call.output_gradients[0];
  const Tensor through_y = g * (dy - Sum(y * dy, {axis()}));
  return {through_y - dy * Sum(y * g, {axis()}),
          AddCall(SoftmaxGradientOperation(axis()), {y, g})};
}

Gradients LogSoftmaxOperation::AddGradient(const CallGradient& call) const {
  return {AddCall(LogSoftmaxGradientOperation(axis()),
                  {call.outputs[0], *call.output_gradients[0]})};
}

Gradients LogSoftmaxGradientOperation::AddGradient(
    const CallGradient& call) const {
  const Tensor& dy = call.inputs[1];
  const Tensor& g = *call.output_gradients[0];
  const Tensor weighted = g * Exp(call.inputs[0]);
  return {-(weighted * Sum(dy, {axis()})), g - Sum(weighted, {axis()})};
}

Tensor Softmax(const Tensor& x, int axis) {
  return AddCall(SoftmaxOperation(FromFront(x, axis)), {x});
}

Tensor LogSoftmax(const Tensor& x, int axis) {
  return AddCall(LogSoftmaxOperation(FromFront(x, axis)), {x});
}

}  // namespace paceline::op
