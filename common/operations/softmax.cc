#include "common/operations/softmax.h"

#include "common/operations/binary_map.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

std::vector<TensorType> SameType(absl::Span<const TensorType> inputs) {
  CHECK(IsReal(inputs[0].type) && !inputs[0].shape.empty())
      << ToString(inputs[0]);
  return {inputs[0]};
}

Tensor SumOfRows(const Tensor& x) { return Sum(x, {x.rank() - 1}); }

}  // namespace

std::vector<TensorType> SoftmaxOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return SameType(inputs);
}

Gradients SoftmaxOperation::AddGradient(const CallGradient& call) const {
  const Tensor& y = call.outputs[0];
  const Tensor& dy = *call.output_gradients[0];
  return {y * (dy - SumOfRows(y * dy))};
}

std::vector<TensorType> LogSoftmaxOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return SameType(inputs);
}

Gradients LogSoftmaxOperation::AddGradient(const CallGradient& call) const {
  const Tensor& dy = *call.output_gradients[0];
  const Tensor sum = SumOfRows(dy);
  return {dy - Exp(call.outputs[0]) * sum};
}

}  // namespace paceline::op
