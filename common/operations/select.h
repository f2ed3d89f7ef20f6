// Selects one of two inputs per element, by a condition; all three are
// broadcast to each other.
#ifndef PACELINE_COMMON_OPERATIONS_SELECT_H_
#define PACELINE_COMMON_OPERATIONS_SELECT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// The input that is not selected has no influence, even if it is NaN, and its
// gradient is 0.
class SelectOperation final : public Operation {
 public:
  static constexpr char kName[] = "Select";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;
};

// `a` where `condition` (kBool) is true, else `b`; both of one type.
Tensor Select(const Tensor& condition, const Tensor& a, const Tensor& b);

// Logical and of kBool tensors.
Tensor And(const Tensor& a, const Tensor& b);
Tensor Or(const Tensor& a, const Tensor& b);
Tensor Not(const Tensor& a);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SELECT_H_
