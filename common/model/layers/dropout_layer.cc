#include "common/model/layers/dropout_layer.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/operations/binary_map.h"
#include "common/operations/constant.h"
#include "common/operations/random.h"
#include "common/operations/select.h"

namespace paceline {
namespace {

// Whether a mask of this shape can be broadcast to an example.
bool Fits(const DropoutLayer::NoiseShape& noise, const Shape& example) {
  if (noise.size() != example.size() + 1 || noise[0].has_value()) return false;
  for (size_t axis = 0; axis < example.size(); ++axis) {
    const int64_t size = noise[1 + axis].value_or(1);
    if (size != 1 && size != example[axis]) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Shape> DropoutLayer::OutputShape(
    absl::Span<const Shape> inputs) const {
  if (!noise_shape || Fits(*noise_shape, inputs[0])) return inputs[0];
  return absl::InvalidArgumentError(absl::StrCat(
      "noise_shape must be null for the batch, and null, 1 or the size for "
      "each axis of input shape ",
      ShapeToString(inputs[0])));
}

Shape DropoutLayer::MaskShape(const Shape& input) const {
  Shape shape = input;
  if (!noise_shape) return shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    shape[axis] = (*noise_shape)[axis].value_or(shape[axis]);
  }
  return shape;
}

op::Tensor DropoutLayer::IsKept(const op::Tensor& x, uint64_t key) const {
  return op::DropoutMask(x.function(), MaskShape(x.shape()), rate, key);
}

op::Tensor DropoutLayer::Noised(const op::Tensor& x, uint64_t key) const {
  const op::Tensor is_kept = IsKept(x, key);
  const op::Tensor zero = op::ConstantLike(x, 0);
  return op::Select(is_kept, x * (1 / (1 - rate)), zero);
}

}  // namespace paceline
