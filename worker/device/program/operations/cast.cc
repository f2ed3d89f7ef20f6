#include "common/operations/cast.h"

#include "worker/device/program/operations/operations.h"

namespace paceline {

bool IsCastToIdsOrOfSums(const op::Operation& operation,
                         absl::Span<const op::TensorType> inputs) {
  const DataType to = static_cast<const op::CastOperation&>(operation).type();
  const DataType from = inputs[0].type;
  return (from == DataType::kFloat32 && to == DataType::kInt32) ||
         (from == DataType::kFloat64 && to == DataType::kFloat32);
}

}  // namespace paceline
