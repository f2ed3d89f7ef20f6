// Add, of what every device has.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ADD_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ADD_H_

#include <memory>
#include <vector>

#include "worker/device/program/node_computation.h"

namespace paceline {

template <typename Builder>
class AddComputation final : public NodeComputation<Builder> {
 public:
  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         Builder& builder) override {
    Tensor* const output = builder.NewTensor(inputs[0]->shape);
    const Tensor* sum = inputs[0];
    for (const Tensor* input : inputs.subspan(1)) {
      builder.AddSum(sum, input, output);
      sum = output;
    }
    return output;
  }

  // Each input's is that of the sum.
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      Builder& /*builder*/) override {
    return std::vector<OutputGradient>(wants_inputs.size(), {output.tensor});
  }
};

template <typename Builder>
std::unique_ptr<NodeComputation<Builder>> MakeAdd(const Graph& /*graph*/,
                                                  const Node& /*node*/) {
  return std::make_unique<AddComputation<Builder>>();
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_ADD_H_
