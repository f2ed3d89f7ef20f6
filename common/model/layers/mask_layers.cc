#include "common/model/layers/mask_layers.h"

#include "common/base/status_macros.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/concatenate.h"
#include "common/operations/constant.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {
namespace {

op::Tensor Differs(const op::Tensor& x, double value) {
  return op::Cast(op::Not(op::Equal(x, value)), x.data_type());
}

// The largest of masks.
op::Tensor AnyOf(absl::Span<const op::Tensor> masks) {
  op::Tensor any = masks[0];
  for (const op::Tensor& mask : masks.subspan(1)) any = op::Maximum(any, mask);
  return any;
}

}  // namespace

op::Tensor AnyDiffers(const op::Tensor& x, double value) {
  return op::Max(Differs(x, value), {x.rank() - 1});
}

absl::StatusOr<Shape> DiffersMask::OutputShape(
    absl::Span<const Shape> inputs) const {
  Shape output = inputs[0];
  if (over_last_axis_) {
    RETURN_IF_ERROR(CheckRank(output, 1));
    output.pop_back();
  }
  return output;
}

LoweredLayer DiffersMask::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  if (!over_last_axis_) return Differs(x, value_);
  Shape shape = x.shape();
  shape.pop_back();
  return op::Reshape(AnyDiffers(x, value_), std::move(shape));
}

absl::StatusOr<Shape> AnyMask::OutputShape(
    absl::Span<const Shape> inputs) const {
  return BroadcastShape(inputs);
}

LoweredLayer AnyMask::Lower(const LayerCall& call) const {
  return AnyOf(call.inputs);
}

absl::StatusOr<Shape> ConcatenatedMask::OutputShape(
    absl::Span<const Shape> inputs) const {
  Shape output = inputs[0];
  if (static_cast<size_t>(axis_) == output.size()) return output;
  output[axis_] = 0;
  for (const Part& part : parts_) output[axis_] += part.size;
  return output;
}

op::Tensor ConcatenatedMask::OnesFor(const Part& part,
                                     const op::Tensor& other_mask) const {
  Shape shape = other_mask.shape();
  if (1 + axis_ < other_mask.rank()) shape[1 + axis_] = part.size;
  return op::Full(other_mask.function(),
                  {other_mask.data_type(), std::move(shape)}, 1);
}

LoweredLayer ConcatenatedMask::Lower(const LayerCall& call) const {
  const op::Tensor& first = call.inputs[0];
  std::vector<op::Tensor> masks;
  size_t next = 0;
  for (const Part& part : parts_) {
    masks.push_back(part.has_mask ? call.inputs[next++] : OnesFor(part, first));
  }
  if (1 + axis_ < first.rank()) return op::Concatenate(masks, 1 + axis_);
  return AnyOf(masks);
}

}  // namespace paceline
