#include "common/model/layers/activation.h"

#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class ActivationComputation final : public NodeComputation {
 public:
  explicit ActivationComputation(ActivationFunction function)
      : activation_(function) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    return activation_.AddForward(input, /*bias=*/nullptr, builder);
  }

  Tensor* AddBackward(OutputGradient output, bool wants_input,
                      ProgramBuilder& builder) override {
    return wants_input ? activation_.AddBackward(output, builder) : nullptr;
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

}  // namespace paceline::cuda
