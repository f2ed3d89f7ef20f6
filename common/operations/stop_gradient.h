// Passes its input on, but stops the gradient.
#ifndef PACELINE_COMMON_OPERATIONS_STOP_GRADIENT_H_
#define PACELINE_COMMON_OPERATIONS_STOP_GRADIENT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

class StopGradientOperation final : public Operation {
 public:
  static constexpr char kName[] = "StopGradient";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  Gradients AddGradient(const CallGradient& /*call*/) const override {
    return {std::nullopt};
  }
};

inline Tensor StopGradient(const Tensor& x) {
  return AddCall(StopGradientOperation(), {x});
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_STOP_GRADIENT_H_
