// Reverses the elements along an axis.
#ifndef PACELINE_COMMON_OPERATIONS_REVERSE_H_
#define PACELINE_COMMON_OPERATIONS_REVERSE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

class ReverseOperation final : public Operation {
 public:
  static constexpr char kName[] = "Reverse";

  // `axis` counts from 0.
  explicit ReverseOperation(int axis) : axis_(axis) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  int axis() const { return axis_; }

 private:
  int axis_;
};

inline Tensor Reverse(const Tensor& x, int axis) {
  return AddCall(ReverseOperation(axis), {x});
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_REVERSE_H_
