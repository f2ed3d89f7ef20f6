#include "common/operations/slice.h"

#include "common/operations/pad.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> SliceOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  const Shape& shape = inputs[0].shape;
  CHECK(starts_.size() == shape.size() && sizes_.size() == shape.size())
      << ToString(inputs[0]);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    CHECK(starts_[axis] >= 0 && sizes_[axis] >= 0 &&
          starts_[axis] + sizes_[axis] <= shape[axis])
        << ShapeToString(sizes_) << " from " << ShapeToString(starts_) << " of "
        << ToString(inputs[0]);
  }
  return {{inputs[0].type, sizes_}};
}

Gradients SliceOperation::AddGradient(const CallGradient& call) const {
  const Shape& shape = call.inputs[0].shape();
  std::vector<AxisPadding> padding;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    padding.push_back(
        {starts_[axis], shape[axis] - starts_[axis] - sizes_[axis]});
  }
  return {Pad(*call.output_gradients[0], std::move(padding))};
}

Tensor Slice(const Tensor& x, Shape starts, Shape sizes) {
  return AddCall(SliceOperation(std::move(starts), std::move(sizes)), {x});
}

Tensor SliceAxis(const Tensor& x, int axis, int64_t start, int64_t size) {
  const size_t at = axis < 0 ? axis + x.rank() : axis;
  Shape starts(x.shape().size(), 0);
  Shape sizes = x.shape();
  starts[at] = start;
  sizes[at] = size;
  return Slice(x, std::move(starts), std::move(sizes));
}

}  // namespace paceline::op
