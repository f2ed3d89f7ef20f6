#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

// Another shape for the same memory.
class ReshapeComputation final : public LayerComputation {
 public:
  explicit ReshapeComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    return builder.Reshaped(input, builder.BatchShape(node_.output_shape));
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!wants_input) return {};
    return {builder.Reshaped(output.tensor, input_shape_)};
  }

 private:
  const Node& node_;
  Shape input_shape_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeReshape(const Graph& /*graph*/,
                                             const Node& node) {
  return std::make_unique<ReshapeComputation>(node);
}

}  // namespace paceline::cpu
