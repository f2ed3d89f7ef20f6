#include "common/model/layers/merge_layer.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/model/shape_rule.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {
namespace {

// Extends `input` to `rank`, by axes of size 1 after the batch.
op::Tensor WithRank(const op::Tensor& input, int rank) {
  Shape shape = input.shape();
  shape.insert(shape.begin() + 1, rank - input.rank(), 1);
  return op::Reshape(input, shape);
}

}  // namespace

absl::StatusOr<Shape> MergeLayer::OutputShape(
    absl::Span<const Shape> inputs) const {
  return BroadcastShape(inputs);
}

absl::StatusOr<OutputMask> MergeLayer::ComputeMask(
    const MaskedCall& call) const {
  const auto has_mask = [](const std::optional<Shape>& mask) {
    return mask.has_value();
  };
  const auto not_supported = [](const Shape& input, const Shape& mask) {
    return absl::UnimplementedError(absl::StrCat(
        "a mask ", ShapeToString(mask), " of an input ", ShapeToString(input),
        " is not supported yet beside others; expected inputs of the same rank "
        "with masks of all axes but the last"));
  };
  const bool is_masked =
      std::any_of(call.masks.begin(), call.masks.end(), has_mask);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Shape& input = call.inputs[i];
    const std::optional<Shape>& mask = call.masks[i];
    if (is_masked && reads_masks() && input.size() != call.inputs[0].size()) {
      return absl::UnimplementedError(
          "inputs of different ranks, one of them with a mask, are not "
          "supported yet");
    }
    if (mask && (mask->size() + 1 != input.size() ||
                 input.size() != call.inputs[0].size())) {
      return not_supported(input, *mask);
    }
  }
  if (!std::all_of(call.masks.begin(), call.masks.end(), has_mask)) {
    return OutputMask();
  }
  return OutputMask{OutputMask::Kind::kAnyOfInputs};
}

LoweredLayer MergeLayer::Lower(const LayerCall& call) const {
  if (!call.masks.empty()) return MergeUnmasked(call);
  int rank = 0;
  for (const op::Tensor& input : call.inputs) {
    rank = std::max(rank, input.rank());
  }
  op::Tensor merged = WithRank(call.inputs[0], rank);
  for (const op::Tensor& input : call.inputs.subspan(1)) {
    merged = Merge(merged, WithRank(input, rank));
  }
  return merged;
}

// Source: keras/src/layers/merging/base_merge.py, _apply_merge_op_and_or_mask.
op::Tensor MergeLayer::MergeUnmasked(const LayerCall& call) const {
  op::Tensor merged = call.inputs[0];
  std::optional<op::Tensor> mask = MaskOfElements(call, 0);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    op::Tensor x = call.inputs[i];
    const std::optional<op::Tensor> mask_of_x =
        MaskOfElements(call, static_cast<int>(i));
    if (mask_of_x) x = op::Select(*mask_of_x, x, merged);
    if (mask) merged = op::Select(*mask, merged, x);
    mask = mask && mask_of_x ? std::optional(op::Or(*mask, *mask_of_x))
                             : std::nullopt;
    merged = Merge(merged, x);
  }
  return merged;
}

std::optional<op::Tensor> MaskOfElements(const LayerCall& call, int input) {
  const op::Tensor& x = call.inputs[input];
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  shape.push_back(1);
  return call.MaskOf(input, std::move(shape));
}

}  // namespace paceline
