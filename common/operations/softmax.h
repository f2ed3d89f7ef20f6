// Softmax and log-softmax along an axis, and their gradients.
#ifndef PACELINE_COMMON_OPERATIONS_SOFTMAX_H_
#define PACELINE_COMMON_OPERATIONS_SOFTMAX_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Inputs and output have one floating-point type and one shape.
class RowOperation : public Operation {
 public:
  // `axis` counts from 0.
  explicit RowOperation(int axis) : axis_(axis) {}

  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const final;

  int axis() const { return axis_; }

 private:
  int axis_;
};

// exp(xᵢ − max x) / Σ exp(xⱼ − max x).
class SoftmaxOperation final : public RowOperation {
 public:
  static constexpr char kName[] = "Softmax";
  using RowOperation::RowOperation;

  absl::string_view name() const override { return kName; }
  Gradients AddGradient(const CallGradient& call) const override;
};

// From the output y and its gradient dy: yᵢ · (dyᵢ − Σ yⱼ dyⱼ).
class SoftmaxGradientOperation final : public RowOperation {
 public:
  static constexpr char kName[] = "SoftmaxGradient";
  using RowOperation::RowOperation;

  absl::string_view name() const override { return kName; }
  Gradients AddGradient(const CallGradient& call) const override;
};

// xᵢ − max x − log Σ exp(xⱼ − max x).
class LogSoftmaxOperation final : public RowOperation {
 public:
  static constexpr char kName[] = "LogSoftmax";
  using RowOperation::RowOperation;

  absl::string_view name() const override { return kName; }
  Gradients AddGradient(const CallGradient& call) const override;
};

// From the output y and its gradient dy: dyᵢ − exp(yᵢ) · Σ dyⱼ.
class LogSoftmaxGradientOperation final : public RowOperation {
 public:
  static constexpr char kName[] = "LogSoftmaxGradient";
  using RowOperation::RowOperation;

  absl::string_view name() const override { return kName; }
  Gradients AddGradient(const CallGradient& call) const override;
};

// A negative `axis` counts from the end.
Tensor Softmax(const Tensor& x, int axis = -1);
Tensor LogSoftmax(const Tensor& x, int axis = -1);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SOFTMAX_H_
