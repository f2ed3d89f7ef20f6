#include "common/model/layers/dropout.h"

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class DropoutComputation final : public LayerComputation {
 public:
  explicit DropoutComputation(const Dropout& layer) : layer_(layer) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    if (!builder.is_training()) return input;
    Tensor* const output = builder.NewTensor(input->shape);
    AddDrop(input, output, builder);
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    Tensor* const gradient = output.is_shared
                                 ? builder.NewTensor(output.tensor->shape)
                                 : output.tensor;
    AddDrop(output.tensor, gradient, builder);
    return {gradient};
  }

 private:
  void AddDrop(Tensor* input, Tensor* output, ProgramBuilder& builder) {
    const int64_t examples = input->shape[0];
    const int64_t size = input->count() / examples;
    const DropoutMask mask(layer_, builder.spec().seed);
    builder.AddKernel({input, output}, examples * DropElements::BlocksOf(size),
                      [=, step = builder.step()] {
                        return DropElements{mask, size, step, ValuesOf(input),
                                            ValuesOf(output)};
                      });
  }

  const Dropout& layer_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeDropout(const Graph& /*graph*/,
                                             const Node& node) {
  return std::make_unique<DropoutComputation>(
      static_cast<const Dropout&>(*node.layer));
}

}  // namespace paceline::cuda
