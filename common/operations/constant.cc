#include "common/operations/constant.h"

#include "common/operations/broadcast.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> ConstantOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(inputs.empty());
  CHECK_EQ(NumElements(type_.shape), static_cast<int64_t>(values_.size()));
  return {type_};
}

Tensor Constant(Function& function, DataType type, double value) {
  return AddSource(function, ConstantOperation({type, {}}, {value}));
}

Tensor Constants(Function& function, DataType type,
                 std::vector<double> values) {
  const auto size = static_cast<int64_t>(values.size());
  return AddSource(function,
                   ConstantOperation({type, {size}}, std::move(values)));
}

Tensor ConstantLike(const Tensor& like, double value) {
  return Constant(like.function(), like.data_type(), value);
}

Tensor Full(Function& function, const TensorType& type, double value) {
  return Broadcast(Constant(function, type.type, value), type.shape);
}

}  // namespace paceline::op
