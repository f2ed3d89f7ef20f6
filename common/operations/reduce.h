// Reductions over axes.
#ifndef PACELINE_COMMON_OPERATIONS_REDUCE_H_
#define PACELINE_COMMON_OPERATIONS_REDUCE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

enum class Reduction {
  kSum,  // In an order of the device's, the same each time; 0 of nothing.
  kMax,  // -infinity of nothing, NaN if there is one. Equal ones share the
         // gradient.
};

// Reduced axes stay with size 1, so the result can be broadcast back. The input
// must be numbers.
class ReduceOperation final : public Operation {
 public:
  static constexpr char kName[] = "Reduce";

  // `axes` must be ascending and count from 0.
  ReduceOperation(Reduction reduction, std::vector<int> axes)
      : reduction_(reduction), axes_(std::move(axes)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  Reduction reduction() const { return reduction_; }
  const std::vector<int>& axes() const { return axes_; }

 private:
  Reduction reduction_;
  std::vector<int> axes_;
};

Tensor Reduce(Reduction reduction, const Tensor& x, std::vector<int> axes);

inline Tensor Sum(const Tensor& x, std::vector<int> axes) {
  return Reduce(Reduction::kSum, x, std::move(axes));
}
inline Tensor Max(const Tensor& x, std::vector<int> axes) {
  return Reduce(Reduction::kMax, x, std::move(axes));
}
// The sum divided by the number of elements, which must not be 0.
Tensor Mean(const Tensor& x, std::vector<int> axes);

// The sum over all elements, of shape ().
Tensor SumAll(const Tensor& x);

// The index of the largest element along the last axis, which becomes 1; int32;
// the first of equal ones. NaN counts as smaller than all numbers. No gradient
// passes.
class ArgMaxOperation final : public Operation {
 public:
  static constexpr char kName[] = "ArgMax";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
};

Tensor ArgMax(const Tensor& x);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REDUCE_H_
