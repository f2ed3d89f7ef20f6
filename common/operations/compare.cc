#include "common/operations/compare.h"

#include "common/operations/broadcast.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> CompareOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const DataType type = inputs[0].type;
  CHECK(type == inputs[1].type && (IsReal(type) || type == DataType::kInt32))
      << ToString(inputs[0]) << " compared with " << ToString(inputs[1]);
  return {{DataType::kBool, BroadcastShape(inputs[0].shape, inputs[1].shape)}};
}

Tensor Compare(Comparison comparison, const Tensor& a, const Tensor& b) {
  return AddCall(CompareOperation(comparison), {a, b});
}

}  // namespace paceline::op
