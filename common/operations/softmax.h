// Softmax and its logarithm, along the last axis.
#ifndef PACELINE_COMMON_OPERATIONS_SOFTMAX_H_
#define PACELINE_COMMON_OPERATIONS_SOFTMAX_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// exp(xᵢ − max x) / Σ exp(xⱼ − max x).
class SoftmaxOperation final : public Operation {
 public:
  static constexpr char kName[] = "Softmax";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;
};

// xᵢ − max x − log Σ exp(xⱼ − max x).
class LogSoftmaxOperation final : public Operation {
 public:
  static constexpr char kName[] = "LogSoftmax";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;
};

inline Tensor Softmax(const Tensor& x) {
  return AddCall(SoftmaxOperation(), {x});
}
inline Tensor LogSoftmax(const Tensor& x) {
  return AddCall(LogSoftmaxOperation(), {x});
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SOFTMAX_H_
