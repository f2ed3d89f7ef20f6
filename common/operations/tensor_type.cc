#include "common/operations/tensor_type.h"

#include "absl/strings/str_cat.h"

namespace paceline::op {

std::string ToString(const TensorType& type) {
  return absl::StrCat(DataTypeName(type.type), " ", ShapeToString(type.shape));
}

}  // namespace paceline::op
