// Multiply, of what every device has.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_MULTIPLY_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_MULTIPLY_H_

#include <memory>
#include <vector>

#include "worker/device/program/node_computation.h"

namespace paceline {

template <typename Builder>
class MultiplyComputation final : public NodeComputation<Builder> {
 public:
  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         Builder& builder) override {
    inputs_.assign(inputs.begin(), inputs.end());
    return AddProduct(inputs_, builder);
  }

  // Each input's is that of the product times all other inputs.
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      Builder& builder) override {
    std::vector<OutputGradient> gradients(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!wants_inputs[i]) continue;
      std::vector<Tensor*> factors = inputs_;
      factors[i] = output.tensor;
      gradients[i].tensor = AddProduct(factors, builder);
    }
    return gradients;
  }

 private:
  static Tensor* AddProduct(absl::Span<Tensor* const> factors,
                            Builder& builder) {
    Tensor* const result = builder.NewTensor(factors[0]->shape);
    const Tensor* product = factors[0];
    for (const Tensor* factor : factors.subspan(1)) {
      builder.AddElementProduct(product, factor, result);
      product = result;
    }
    return result;
  }

  std::vector<Tensor*> inputs_;
};

template <typename Builder>
std::unique_ptr<NodeComputation<Builder>> MakeMultiply(const Graph& /*graph*/,
                                                       const Node& /*node*/) {
  return std::make_unique<MultiplyComputation<Builder>>();
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYERS_MULTIPLY_H_
