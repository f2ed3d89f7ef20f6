#include "common/model/shape_rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/limits.h"

namespace paceline {
namespace {

// Whether Keras repeats axes of size 1 where the other shape's are larger, and
// adds such axes in front.
bool AreBroadcast(const Shape& a, const Shape& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t of_a = a[a.size() - i];
    const int64_t of_b = b[b.size() - i];
    if (of_a != of_b && of_a != 1 && of_b != 1) return false;
  }
  return true;
}

}  // namespace

absl::Status CheckShape(absl::Span<const int64_t> shape) {
  if (shape.size() > limits::kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shape of ", shape.size(), " dimensions; at most ",
                     limits::kMaxRank, " are supported"));
  }
  int64_t elements = 1;
  for (const int64_t dimension : shape) {
    if (dimension < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shape ", ShapeToString(shape), " has a dimension below 1"));
    }
    if (dimension > limits::kMaxElements / elements) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", ShapeToString(shape), " has more than ",
                       limits::kMaxElements, " elements"));
    }
    elements *= dimension;
  }
  return absl::OkStatus();
}

absl::Status CheckRank(const Shape& input, int least) {
  if (input.size() >= static_cast<size_t>(least)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "input must have at least ", least,
      " dimensions beside the batch, got shape ", ShapeToString(input)));
}

absl::Status CheckImage(const Shape& input) {
  if (input.size() == 3) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input must have shape (height, width, channels), got ",
                   ShapeToString(input)));
}

absl::Status CheckSameShapes(absl::Span<const Shape> inputs) {
  for (const Shape& input : inputs) {
    if (input == inputs[0]) continue;
    if (AreBroadcast(input, inputs[0])) {
      return absl::UnimplementedError(
          absl::StrCat("broadcasting is not supported yet: the inputs have "
                       "shapes ",
                       ShapeToString(inputs[0]), " and ", ShapeToString(input),
                       "; repeat the smaller one"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("all inputs must have the same shape, got ",
                     ShapeToString(inputs[0]), " and ", ShapeToString(input)));
  }
  return absl::OkStatus();
}

absl::Status CheckAxis(int64_t axis, const Shape& input) {
  const auto rank = static_cast<int64_t>(input.size());
  if (axis != 0 && axis <= rank && axis >= -rank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("axis ", axis, " is none of input shape ",
                   ShapeToString(input), " (the batch is axis 0)"));
}

int ExampleAxis(int64_t axis, size_t rank) {
  return static_cast<int>(axis > 0 ? axis - 1
                                   : axis + static_cast<int64_t>(rank));
}

absl::Status CheckClasses(const Shape& output) {
  if (output.size() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the model's output must have shape (classes), got ",
                   ShapeToString(output)));
}

}  // namespace paceline
