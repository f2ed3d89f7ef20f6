#include "common/model/layers/add.h"

#include "worker/device/cpu/kernels/arithmetic.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class AddComputation final : public NodeComputation {
 public:
  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         ProgramBuilder& builder) override {
    Tensor* const output = builder.NewTensor(inputs[0]->shape);
    const Tensor* sum = inputs[0];
    for (const Tensor* input : inputs.subspan(1)) {
      builder.AddParallel({sum, input, output}, output->count(), 1,
                          [sum, input, output](int64_t begin, int64_t end) {
                            AddArrays(end - begin, sum->floats() + begin,
                                      input->floats() + begin,
                                      output->floats() + begin);
                          });
      sum = output;
    }
    return output;
  }

  // Each input's is that of the sum.
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      ProgramBuilder& /*builder*/) override {
    return std::vector<OutputGradient>(wants_inputs.size(), {output.tensor});
  }
};

}  // namespace

std::unique_ptr<NodeComputation> MakeAdd(const Graph& /*graph*/,
                                         const Node& /*node*/) {
  return std::make_unique<AddComputation>();
}

}  // namespace paceline::cpu
