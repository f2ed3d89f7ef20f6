#include "common/model/layers/dense.h"

#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

// All leading dimensions are rows.
class DenseComputation final : public LayerComputation {
 public:
  DenseComputation(const Dense& layer, const Node& node)
      : layer_(layer), node_(node), activation_(layer.activation) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    size_ = input->shape.back();
    rows_ = input->count() / size_;
    Tensor* const values =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    const Tensor* const bias_values =
        layer_.use_bias ? builder.variable(bias()) : nullptr;
    const bool adds_bias = !activation_.adds_bias_in_passing();
    builder.AddProduct(input, builder.variable(kernel()), values,
                       {.rows = rows_, .columns = layer_.units, .inner = size_},
                       {.bias = adds_bias ? bias_values : nullptr});
    return activation_.AddForward(values, adds_bias ? nullptr : bias_values,
                                  builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    Tensor* const gradient = activation_.AddBackward(output, builder);
    // All variables of a layer are trained, or none.
    if (builder.is_trained(kernel())) AddVariableGradients(gradient, builder);
    if (!wants_input) return {};
    Tensor* const input_gradient = builder.NewTensor(input_->shape);
    builder.AddProduct(gradient, builder.variable(kernel()), input_gradient,
                       {.rows = rows_,
                        .columns = size_,
                        .inner = layer_.units,
                        .right_is_transposed = true});
    return {input_gradient};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  int kernel() const { return node_.variables[0]; }
  int bias() const { return node_.variables[1]; }

  void AddVariableGradients(Tensor* gradient, ProgramBuilder& builder) const {
    builder.AddProduct(
        input_, gradient, builder.gradient(kernel()),
        {.rows = size_,
         .columns = layer_.units,
         .inner = rows_,
         .left_is_transposed = true},
        {.column_sums = layer_.use_bias ? builder.gradient(bias()) : nullptr});
    for (const int variable : node_.variables) builder.FinishGradient(variable);
  }

  const Dense& layer_;
  const Node& node_;
  FinalActivation activation_;
  Tensor* input_ = nullptr;
  int64_t rows_ = 0;
  // Of a row of the input.
  int64_t size_ = 0;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeDense(const Graph& /*graph*/,
                                           const Node& node) {
  return std::make_unique<DenseComputation>(
      static_cast<const Dense&>(*node.layer), node);
}

}  // namespace paceline::cuda
