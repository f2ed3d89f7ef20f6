#include "common/model/layers/multiply.h"

#include "worker/device/cpu/kernels/arithmetic.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

class MultiplyComputation final : public NodeComputation {
 public:
  Tensor* AddNodeForward(absl::Span<Tensor* const> inputs,
                         ProgramBuilder& builder) override {
    inputs_.assign(inputs.begin(), inputs.end());
    return AddProduct(inputs_, builder);
  }

  // Each input's is that of the product times all other inputs.
  std::vector<OutputGradient> AddNodeBackward(
      OutputGradient output, const std::vector<bool>& wants_inputs,
      ProgramBuilder& builder) override {
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
                            ProgramBuilder& builder) {
    Tensor* const result = builder.NewTensor(factors[0]->shape);
    const Tensor* product = factors[0];
    for (const Tensor* factor : factors.subspan(1)) {
      builder.AddParallel(
          {product, factor, result}, result->count(), 1,
          [product, factor, result](int64_t begin, int64_t end) {
            MultiplyArrays(end - begin, product->floats() + begin,
                           factor->floats() + begin, result->floats() + begin);
          });
      product = result;
    }
    return result;
  }

  std::vector<Tensor*> inputs_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeMultiply(const Graph& /*graph*/,
                                              const Node& /*node*/) {
  return std::make_unique<MultiplyComputation>();
}

}  // namespace paceline::cpu
