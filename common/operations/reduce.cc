#include "common/operations/reduce.h"

#include <numeric>

#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/reshape.h"
#include "glog/logging.h"

namespace paceline::op {

std::vector<TensorType> ReduceOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  TensorType output = inputs[0];
  CHECK(IsReal(output.type) || output.type == DataType::kInt32)
      << ToString(output);
  int last = -1;
  for (const int axis : axes_) {
    CHECK(axis > last && axis < static_cast<int>(output.shape.size()))
        << "axis " << axis << " of " << ToString(output);
    output.shape[axis] = 1;
    last = axis;
  }
  return {output};
}

Gradients ReduceOperation::AddGradient(const CallGradient& call) const {
  const Tensor& x = call.inputs[0];
  const Tensor& dy = *call.output_gradients[0];
  if (reduction_ == Reduction::kSum) return {Broadcast(dy, x.shape())};
  const Tensor is_largest = Cast(Equal(x, call.outputs[0]), x.data_type());
  return {is_largest * (dy / Sum(is_largest, axes_))};
}

Tensor Reduce(Reduction reduction, const Tensor& x, std::vector<int> axes) {
  return AddCall(ReduceOperation(reduction, std::move(axes)), {x});
}

Tensor Mean(const Tensor& x, std::vector<int> axes) {
  int64_t count = 1;
  for (const int axis : axes) count *= x.dimension(axis);
  return Sum(x, std::move(axes)) / static_cast<double>(count);
}

Tensor SumAll(const Tensor& x) {
  std::vector<int> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return Reshape(Sum(x, std::move(axes)), {});
}

std::vector<TensorType> ArgMaxOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  Shape shape = inputs[0].shape;
  CHECK(!shape.empty() && shape.back() > 0) << ToString(inputs[0]);
  shape.back() = 1;
  return {{DataType::kInt32, shape}};
}

Tensor ArgMax(const Tensor& x) { return AddCall(ArgMaxOperation(), {x}); }

}  // namespace paceline::op
