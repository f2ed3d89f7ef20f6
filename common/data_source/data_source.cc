#include "common/data_source/data_source.h"

#include "absl/strings/str_format.h"

namespace paceline {
namespace {

Shape WithoutTrailingOnes(Shape shape) {
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  return shape;
}

}  // namespace

absl::Status CheckFits(const DataSource& source, const Shape& input,
                       const Shape& output, bool sparse_labels) {
  if (WithoutTrailingOnes(source.feature_shape()) !=
      WithoutTrailingOnes(input)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: examples have features of shape %s, the model's input is %s",
        source.name(), ShapeToString(source.feature_shape()),
        ShapeToString(input)));
  }
  const Shape expected = sparse_labels ? Shape{} : output;
  if (WithoutTrailingOnes(source.label_shape()) !=
      WithoutTrailingOnes(expected)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: examples have labels of shape %s, the loss expects %s%s",
        source.name(), ShapeToString(source.label_shape()),
        sparse_labels ? "a class id, " : "", ShapeToString(expected)));
  }
  return sparse_labels ? source.CheckClassIds(output.back()) : absl::OkStatus();
}

}  // namespace paceline
