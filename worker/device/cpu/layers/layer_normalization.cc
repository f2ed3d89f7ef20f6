#include "common/model/layers/layer_normalization.h"

#include "worker/device/cpu/kernels/layer_normalization.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

// What the operations of a node work on. Null where there is none.
struct Tensors {
  int64_t size = 0;
  Tensor* input = nullptr;
  Tensor* means = nullptr;
  Tensor* factors = nullptr;
  Tensor* gamma = nullptr;

  NormalizedRows rows() const {
    return {size, input->floats(), means->floats(), factors->floats(),
            FloatsOrNull(gamma)};
  }
  int64_t row_count() const { return means->count(); }
};

class LayerNormalizationComputation final : public LayerComputation {
 public:
  LayerNormalizationComputation(const LayerNormalization& layer,
                                const Node& node)
      : layer_(layer), node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    tensors_.size = NumElements(layer_.NormalizedShape(input->shape));
    tensors_.input = input;
    tensors_.means = builder.NewTensor({input->count() / tensors_.size});
    tensors_.factors = builder.NewTensor(tensors_.means->shape);
    if (layer_.scale)
      tensors_.gamma = builder.variable(node_.variables.front());
    Tensor* const beta =
        layer_.center ? builder.variable(node_.variables.back()) : nullptr;
    Tensor* const output = builder.NewTensor(input->shape);
    builder.AddParallel({input, tensors_.means, tensors_.factors, output},
                        tensors_.row_count(), tensors_.size,
                        [t = tensors_, beta, output, epsilon = layer_.epsilon](
                            int64_t begin, int64_t end) {
                          LayerNormalizationForward(t.rows(), epsilon,
                                                    FloatsOrNull(beta), begin,
                                                    end, output->floats());
                        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    AddVariableGradients(output.tensor, builder);
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(tensors_.input->shape);
    builder.AddParallel({tensors_.input, tensors_.means, tensors_.factors,
                         output.tensor, input_gradient},
                        tensors_.row_count(), tensors_.size,
                        [t = tensors_, gradient = output.tensor,
                         input_gradient](int64_t begin, int64_t end) {
                          LayerNormalizationBackward(t.rows(), begin, end,
                                                     gradient->floats(),
                                                     input_gradient->floats());
                        });
    return {input_gradient};
  }

 private:
  void AddVariableGradients(Tensor* gradient, ProgramBuilder& builder) {
    if (node_.variables.empty() || !layer_.trainable) return;
    Tensor* const of_gamma =
        layer_.scale ? builder.gradient(node_.variables.front()) : nullptr;
    Tensor* const of_beta =
        layer_.center ? builder.gradient(node_.variables.back()) : nullptr;
    builder.AddParallel(
        {tensors_.input, tensors_.means, tensors_.factors, gradient},
        tensors_.size, tensors_.row_count(),
        [t = tensors_, gradient, of_gamma, of_beta](int64_t begin,
                                                    int64_t end) {
          LayerNormalizationSums(t.rows(), t.row_count(), begin, end,
                                 gradient->floats(), FloatsOrNull(of_gamma),
                                 FloatsOrNull(of_beta));
        });
    for (const int variable : node_.variables) builder.FinishGradient(variable);
  }

  const LayerNormalization& layer_;
  const Node& node_;
  Tensors tensors_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeLayerNormalization(const Graph& /*graph*/,
                                                        const Node& node) {
  return std::make_unique<LayerNormalizationComputation>(
      static_cast<const LayerNormalization&>(*node.layer), node);
}

}  // namespace paceline::cpu
