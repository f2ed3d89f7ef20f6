// Layers that compute masks. The graph adds them where Keras has operations;
// they are in no configuration.
#ifndef PACELINE_COMMON_MODEL_LAYERS_MASK_LAYERS_H_
#define PACELINE_COMMON_MODEL_LAYERS_MASK_LAYERS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/layer.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

// As numbers: 1 where any element along the last axis, which becomes 1, differs
// from the value, else 0.
op::Tensor AnyDiffers(const op::Tensor& x, double value);

// 1 where the input differs from a value, else 0. Over the last axis, which
// goes away, it is 1 if any element differs.
class DiffersMask : public Layer {
 public:
  DiffersMask(double value, bool over_last_axis)
      : value_(value), over_last_axis_(over_last_axis) {}

  absl::string_view class_name() const override { return "DiffersMask"; }
  bool is_mask() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

  bool IsSameAs(const DiffersMask& other) const {
    return value_ == other.value_ && over_last_axis_ == other.over_last_axis_;
  }

 private:
  const double value_;
  const bool over_last_axis_;
};

// The largest of its inputs, which are masks: 1 where any of them is. Inputs
// are broadcast.
class AnyMask : public Layer {
 public:
  absl::string_view class_name() const override { return "AnyMask"; }
  bool is_mask() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;
};

// The masks of the parts of a concatenation as the mask of the whole. Its
// inputs are the masks of parts that have one; all steps of the others count.
// Along the last axis, which masks do not have, a step counts if it does in any
// part.
class ConcatenatedMask : public Layer {
 public:
  struct Part {
    bool has_mask = false;
    // Size along the axis.
    int64_t size = 0;
  };

  // `axis` counts without the batch, and is that of the parts.
  ConcatenatedMask(std::vector<Part> parts, int axis)
      : parts_(std::move(parts)), axis_(axis) {}

  absl::string_view class_name() const override { return "ConcatenatedMask"; }
  bool is_mask() const override { return true; }
  absl::StatusOr<Shape> OutputShape(
      absl::Span<const Shape> inputs) const override;
  LoweredLayer Lower(const LayerCall& call) const override;

 private:
  // Ones of the shape that the mask of `part` would have.
  op::Tensor OnesFor(const Part& part, const op::Tensor& other_mask) const;

  const std::vector<Part> parts_;
  const int axis_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_LAYERS_MASK_LAYERS_H_
