// All-reduce: the sum over the replicas that take a step together.
#ifndef PACELINE_COMMON_OPERATIONS_SUM_OVER_REPLICAS_H_
#define PACELINE_COMMON_OPERATIONS_SUM_OVER_REPLICAS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"
#include "glog/logging.h"

namespace paceline::op {

// Sums each input, of any shape, over the replicas, in the order of ranks, with
// the same bits on all. Replicas wait for each other once per call. All
// replicas must make the same calls in the same order; a replica without an
// example contributes what it computes for an empty batch, which must be zeros.
// With a single replica this is the identity.
//
// Each replica differentiates its own loss, but the sum of the losses matters.
// So the gradient is a sum over the replicas, too.
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
