#include "common/operations/constant.h"

#include <vector>

#include "worker/device/program/operations/operations.h"

namespace paceline {

bool IsFloatConstant(const op::Operation& operation,
                     absl::Span<const op::TensorType> inputs) {
  return operation.OutputTypes(inputs)[0].type == DataType::kFloat32;
}

Tensor* AddConstant(const PlacedCall& call, LayoutBuilder& builder) {
  const std::vector<double>& values =
      static_cast<const op::ConstantOperation&>(call.operation).values();
  return builder.NewConstant(call.output_type.shape,
                             std::vector<float>(values.begin(), values.end()));
}

}  // namespace paceline
