#include "common/operations/sum_over_replicas.h"

#include <cstddef>
#include <memory>

#include "common/operations/constant.h"

namespace paceline::op {

Gradients SumOverReplicasOperation::AddGradient(
    const CallGradient& call) const {
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const std::optional<Tensor>& gradient = call.output_gradients[i];
    gradients.push_back(
        gradient ? *gradient
                 : Full(call.outputs[i].function(), call.outputs[i].type(), 0));
  }
  const std::vector<Tensor> sums = SumOverReplicas(gradients);
  return {sums.begin(), sums.end()};
}

std::vector<Tensor> SumOverReplicas(absl::Span<const Tensor> inputs) {
  return inputs[0].function().AddCall(
      std::make_shared<const SumOverReplicasOperation>(), inputs);
}

}  // namespace paceline::op
