#include "worker/device/program/operations/input_types.h"

#include <algorithm>

namespace paceline {
namespace {

bool AreAll(DataType type, absl::Span<const op::TensorType> inputs) {
  return std::all_of(
      inputs.begin(), inputs.end(),
      [type](const op::TensorType& input) { return input.type == type; });
}

}  // namespace

bool AreFloats(absl::Span<const op::TensorType> inputs) {
  return AreAll(DataType::kFloat32, inputs);
}

bool AreAnyTypes(absl::Span<const op::TensorType> /*inputs*/) { return true; }

bool BeginWithFloats(absl::Span<const op::TensorType> inputs) {
  return inputs.front().type == DataType::kFloat32;
}

bool EndWithFloats(absl::Span<const op::TensorType> inputs) {
  return inputs.back().type == DataType::kFloat32;
}

bool AreSums(absl::Span<const op::TensorType> inputs) {
  return AreAll(DataType::kFloat64, inputs);
}

bool AreFloatsIdsOrBools(absl::Span<const op::TensorType> inputs) {
  return std::all_of(
      inputs.begin(), inputs.end(), [](const op::TensorType& input) {
        return input.type == DataType::kFloat32 ||
               input.type == DataType::kInt32 || input.type == DataType::kBool;
      });
}

}  // namespace paceline
