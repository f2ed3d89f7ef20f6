#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

// Another shape for the same memory.
class ReshapeComputation final : public NodeComputation {
 public:
  explicit ReshapeComputation(const Node& node) : node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    return builder.Reshaped(input, builder.BatchShape(node_.output_shape));
  }

  Tensor* AddBackward(OutputGradient output, bool wants_input,
                      ProgramBuilder& builder) override {
    return wants_input ? builder.Reshaped(output.tensor, input_shape_)
                       : nullptr;
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

}  // namespace paceline::cuda
