#include "common/operations/iota.h"

#include <numeric>
#include <vector>

#include "worker/device/program/operations/operations.h"

namespace paceline {

bool IsFloatIota(const op::Operation& operation,
                 absl::Span<const op::TensorType> /*inputs*/) {
  return static_cast<const op::IotaOperation&>(operation).type() ==
         DataType::kFloat32;
}

Tensor* AddIota(const PlacedCall& call, LayoutBuilder& builder) {
  const Shape& shape = call.output_type.shape;
  std::vector<float> values(NumElements(shape));
  std::iota(values.begin(), values.end(), 0.0f);
  return builder.NewConstant(shape, std::move(values));
}

}  // namespace paceline
