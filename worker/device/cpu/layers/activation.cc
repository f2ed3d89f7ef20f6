#include "common/model/layers/activation.h"

#include "worker/device/cpu/final_activation.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class ActivationComputation final : public LayerComputation {
 public:
  explicit ActivationComputation(ActivationFunction function)
      : activation_(function) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    return activation_.AddForward(input, /*is_done=*/false, builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    return {activation_.AddBackward(output, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  FinalActivation activation_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeActivation(const Graph& /*graph*/,
                                                const Node& node) {
  return std::make_unique<ActivationComputation>(
      static_cast<const Activation&>(*node.layer).activation);
}

}  // namespace paceline::cpu
