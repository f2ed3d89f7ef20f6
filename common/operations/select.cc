#include "common/operations/select.h"

#include "common/operations/broadcast.h"
#include "common/operations/constant.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> SelectOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(inputs[0].type == DataType::kBool && inputs[1].type == inputs[2].type)
      << ToString(inputs[0]) << " selects " << ToString(inputs[1]) << " or "
      << ToString(inputs[2]);
  return {{inputs[1].type,
           BroadcastShape(inputs[0].shape,
                          BroadcastShape(inputs[1].shape, inputs[2].shape))}};
}

Gradients SelectOperation::AddGradient(const CallGradient& call) const {
  const Tensor& condition = call.inputs[0];
  const Tensor& dy = *call.output_gradients[0];
  const Tensor zero = ConstantLike(dy, 0);
  Gradients gradients(3);
  if (call.wanted[1]) {
    gradients[1] = SumTo(Select(condition, dy, zero), call.inputs[1].shape());
  }
  if (call.wanted[2]) {
    gradients[2] = SumTo(Select(condition, zero, dy), call.inputs[2].shape());
  }
  return gradients;
}

Tensor Select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return AddCall(SelectOperation(), {condition, a, b});
}

Tensor And(const Tensor& a, const Tensor& b) {
  return Select(a, b, ConstantLike(a, 0));
}

Tensor Or(const Tensor& a, const Tensor& b) {
  return Select(a, ConstantLike(a, 1), b);
}

Tensor Not(const Tensor& a) {
  const Tensor no = ConstantLike(a, 0);
  const Tensor yes = ConstantLike(a, 1);
  return Select(a, no, yes);
}

}  // namespace paceline::op
