#include "common/operations/broadcast.h"

#include <algorithm>

#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "glog/logging.h"

namespace paceline::op {

Shape BroadcastShape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = result[offset + i];
    CHECK(size == shorter[i] || size == 1 || shorter[i] == 1)
        << ShapeToString(a) << " and " << ShapeToString(b)
        << " are not broadcast to each other";
    if (size == 1) size = shorter[i];
  }
  return result;
}

std::vector<TensorType> BroadcastOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(BroadcastShape(inputs[0].shape, shape_) == shape_)
      << ShapeToString(inputs[0].shape) << " to " << ShapeToString(shape_);
  return {{inputs[0].type, shape_}};
}

Gradients BroadcastOperation::AddGradient(const CallGradient& call) const {
  return {SumTo(*call.output_gradients[0], call.inputs[0].shape())};
}

Tensor Broadcast(const Tensor& x, Shape shape) {
  if (x.shape() == shape) return x;
  return AddCall(BroadcastOperation(std::move(shape)), {x});
}

Tensor SumTo(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int leading = x.rank() - static_cast<int>(shape.size());
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis < leading ||
        (shape[axis - leading] == 1 && x.dimension(axis) != 1)) {
      axes.push_back(axis);
    }
  }
  return Reshape(axes.empty() ? x : Sum(x, axes), shape);
}

}  // namespace paceline::op
