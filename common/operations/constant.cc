#include "common/operations/constant.h"

#include "common/operations/broadcast.h"

namespace paceline::op {

std::vector<TensorType> ConstantOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(inputs.empty());
  return {{type_, {}}};
}

Tensor Constant(Function& function, DataType type, double value) {
  return AddSource(function, ConstantOperation(type, value));
}

Tensor ConstantLike(const Tensor& like, double value) {
  return Constant(like.function(), like.data_type(), value);
}

Tensor Full(Function& function, const TensorType& type, double value) {
  return Broadcast(Constant(function, type.type, value), type.shape);
}

}  // namespace paceline::op
