#include "common/model/shape_rule.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "common/operations/class_ids.h"

namespace paceline {
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

absl::Status CheckSequence(const Shape& input) {
  if (input.size() == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "input must have shape (steps, channels), got ", ShapeToString(input)));
}

absl::Status CheckStepMask(const Shape& input,
                           const std::optional<Shape>& mask) {
  if (!mask || *mask == Shape{input[0]}) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the mask of a sequence must have the shape of its steps, (",
                   input[0], "), got ", ShapeToString(*mask)));
}

absl::Status CheckTwoInputs(absl::Span<const Shape> inputs) {
  if (inputs.size() == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("expected 2 inputs, got ", inputs.size()));
}

absl::StatusOr<Shape> BroadcastShape(absl::Span<const Shape> inputs) {
  Shape result = inputs[0];
  for (const Shape& input : inputs) {
    if (input.size() > result.size()) {
      result.insert(result.begin(), input.size() - result.size(), 1);
    }
    const size_t in_front = result.size() - input.size();
    for (size_t i = 0; i < input.size(); ++i) {
      int64_t& size = result[in_front + i];
      if (size == 1) size = input[i];
      if (input[i] == size || input[i] == 1) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "inputs must have the same shape, or 1 where axes differ, got ",
          ShapeToString(inputs[0]), " and ", ShapeToString(input)));
    }
  }
  RETURN_IF_ERROR(CheckShape(result));
  return result;
}

absl::Status CheckAxis(int64_t axis, const Shape& input) {
  const auto rank = static_cast<int64_t>(input.size());
  if (axis != 0 && axis <= rank && axis >= -rank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("axis ", axis, " is not an axis of input shape ",
                   ShapeToString(input), " (the batch is axis 0)"));
}

int ExampleAxis(int64_t axis, size_t rank) {
  return static_cast<int>(axis > 0 ? axis - 1
                                   : axis + static_cast<int64_t>(rank));
}

absl::StatusOr<std::vector<int>> ExampleAxes(absl::Span<const int64_t> axes,
                                             const Shape& input) {
  std::set<int> converted;
  for (const int64_t axis : axes) {
    RETURN_IF_ERROR(CheckAxis(axis, input));
    converted.insert(ExampleAxis(axis, input.size()));
  }
  if (converted.size() != axes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "[", absl::StrJoin(axes, ", "), "] must name axes, each once"));
  }
  return std::vector<int>(converted.begin(), converted.end());
}

absl::Status CheckClasses(const Shape& output) {
  RETURN_IF_ERROR(CheckRank(output, 1));
  if (output.back() <= op::kMaxClasses) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the model's output must have at most ", op::kMaxClasses,
                   " classes, got ", ShapeToString(output)));
}

}  // namespace paceline
