#include "common/operations/cast.h"

namespace paceline::op {

std::vector<TensorType> CastOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  return {{type_, inputs[0].shape}};
}

Gradients CastOperation::AddGradient(const CallGradient& call) const {
  return {Cast(*call.output_gradients[0], call.inputs[0].data_type())};
}

Tensor Cast(const Tensor& x, DataType type) {
  if (x.data_type() == type) return x;
  return AddCall(CastOperation(type), {x});
}

}  // namespace paceline::op
