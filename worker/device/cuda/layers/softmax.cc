#include "common/model/layers/softmax.h"

#include "common/model/shape_rule.h"
#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class SoftmaxComputation final : public NodeComputation {
 public:
  explicit SoftmaxComputation(const RowGeometry& rows)
      : rows_(rows), activation_(ActivationFunction::kSoftmax) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    return activation_.AddRowwiseForward(input, rows_, builder);
  }

  Tensor* AddBackward(OutputGradient output, bool wants_input,
                      ProgramBuilder& builder) override {
    return wants_input ? activation_.AddBackward(output, builder) : nullptr;
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  RowGeometry rows_;
  FinalActivation activation_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeSoftmax(const Graph& /*graph*/,
                                             const Node& node) {
  const Shape& shape = node.output_shape;
  const int axis =
      ExampleAxis(static_cast<const Softmax&>(*node.layer).axis, shape.size());
  RowGeometry rows{.size = shape[axis]};
  for (size_t i = axis + 1; i < shape.size(); ++i) rows.stride *= shape[i];
  return std::make_unique<SoftmaxComputation>(rows);
}

}  // namespace paceline::cuda
