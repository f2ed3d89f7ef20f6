#include "common/model/layers/sides.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "common/operations/pad.h"
#include "common/operations/slice.h"

namespace paceline {

Shape PaddedShape(Shape input, absl::Span<const Sides> sides) {
  for (size_t axis = 0; axis < sides.size(); ++axis) {
    input[axis] += sides[axis][0] + sides[axis][1];
  }
  return input;
}

op::Tensor Padded(const op::Tensor& x, absl::Span<const Sides> sides) {
  std::vector<op::AxisPadding> padding(x.rank());
  for (size_t axis = 0; axis < sides.size(); ++axis) {
    padding[1 + axis] = {sides[axis][0], sides[axis][1]};
  }
  return op::Pad(x, std::move(padding));
}

absl::StatusOr<Shape> CroppedShape(const Shape& input,
                                   absl::Span<const Sides> sides) {
  Shape output = input;
  for (size_t axis = 0; axis < sides.size(); ++axis) {
    const auto [before, after] = sides[axis];
    output[axis] -= before + after;
    if (output[axis] > 0) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "cropping [%d, %d] leaves nothing of axis %d of input shape %s", before,
        after, axis + 1, ShapeToString(input)));
  }
  return output;
}

op::Tensor Cropped(const op::Tensor& x, absl::Span<const Sides> sides) {
  Shape starts(x.rank());
  Shape sizes = x.shape();
  for (size_t axis = 0; axis < sides.size(); ++axis) {
    starts[1 + axis] = sides[axis][0];
    sizes[1 + axis] -= sides[axis][0] + sides[axis][1];
  }
  return op::Slice(x, std::move(starts), std::move(sizes));
}

}  // namespace paceline
