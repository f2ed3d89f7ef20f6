// The sum over the replicas that take a step together.
#ifndef PACELINE_COMMON_OPERATIONS_SUM_OVER_REPLICAS_H_
#define PACELINE_COMMON_OPERATIONS_SUM_OVER_REPLICAS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "glog/logging.h"

namespace paceline::op {

// Of each input, of any shape: replicas wait for each other once a call. In the
// order of ranks, the same on all. All replicas make the same calls in the same
// order; one without an example contributes what it computed of an empty batch,
// which must be zeros. Without other replicas it is the identity.
//
// Each replica differentiates its own loss, and the gradient that counts is
// that of their sum: so the gradient is a sum over the replicas too.
class SumOverReplicasOperation final : public Operation {
 public:
  static constexpr char kName[] = "SumOverReplicas";

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override {
    for (const TensorType& input : inputs) {
      CHECK(IsReal(input.type)) << ToString(input);
    }
    return {inputs.begin(), inputs.end()};
  }
  Gradients AddGradient(const CallGradient& call) const override;
};

std::vector<Tensor> SumOverReplicas(absl::Span<const Tensor> inputs);
inline Tensor SumOverReplicas(const Tensor& x) {
  return SumOverReplicas(absl::MakeSpan(&x, 1))[0];
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SUM_OVER_REPLICAS_H_
