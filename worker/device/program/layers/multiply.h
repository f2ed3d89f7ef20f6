// Multiply, of what every device has.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_MULTIPLY_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_MULTIPLY_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "worker/device/program/broadcast.h"
#include "worker/device/program/node_computation.h"

namespace paceline {

template <typename Builder>
class MultiplyComputation final : public NodeComputation<Builder> {
 public:
  explicit MultiplyComputation(const Shape& output) : output_shape_(output) {}

  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         Builder& builder) override {
    inputs_.assign(inputs.begin(), inputs.end());
    return AddProduct(inputs_, builder);
  }

  // Each input's is that of the product times all other inputs, summed up over
  // what was repeated.
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      Builder& builder) override {
    std::vector<OutputGradient> gradients(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!wants_inputs[i]) continue;
      std::vector<Tensor*> factors = inputs_;
      factors[i] = output.tensor;
      gradients[i].tensor = AddSumOfRepetitions(AddProduct(factors, builder),
                                                inputs_[i]->shape, builder);
    }
    return gradients;
  }

 private:
  Tensor* AddProduct(absl::Span<Tensor* const> factors,
                     Builder& builder) const {
    return AddMerge(&LayoutBuilder::AddElementProduct, factors,
                    builder.BatchShape(output_shape_), builder);
  }

  // Of an example.
  const Shape output_shape_;
  std::vector<Tensor*> inputs_;
};

template <typename Builder>
std::unique_ptr<NodeComputation<Builder>> MakeMultiply(const Graph& /*graph*/,
                                                       const Node& node) {
  return std::make_unique<MultiplyComputation<Builder>>(node.output_shape);
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_MULTIPLY_H_
