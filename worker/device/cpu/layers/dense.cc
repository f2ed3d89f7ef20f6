#include "common/model/layers/dense.h"

#include <dnnl.hpp>

#include "worker/device/cpu/final_activation.h"
#include "worker/device/cpu/layers/layers.h"
#include "worker/device/cpu/onednn.h"

namespace paceline::cpu {
namespace {

using dnnl::inner_product_backward_data;
using dnnl::inner_product_backward_weights;
using dnnl::inner_product_forward;
using Format = dnnl::memory::format_tag;

// All leading dimensions are rows. The kernel stays in Keras' layout (n,
// units), which oneDNN calls "io": its matrix products are as fast on it as on
// layouts of its own choice.
class DenseComputation final : public LayerComputation {
 public:
  DenseComputation(const Dense& layer, const Graph& graph, const Node& node)
      : layer_(layer),
        node_(node),
        activation_(layer.activation, graph, node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_shape_ = input->shape;
    const int64_t size = input->shape.back();
    const int64_t rows = input->count() / size;
    const DataType factors = builder.factor_type();
    source_ = Layout({rows, size}, Format::nc);
    source_factors_ = Layout({rows, size}, Format::nc, factors);
    weights_ = Layout({layer_.units, size}, Format::io);
    weight_factors_ = Layout({layer_.units, size}, Format::io, factors);
    result_ = Layout({rows, layer_.units}, Format::nc);
    result_factors_ = Layout({rows, layer_.units}, Format::nc, factors);
    if (layer_.use_bias) bias_ = Layout({layer_.units}, Format::x);

    forward_ = inner_product_forward::primitive_desc(
        inner_product_forward::desc(builder.forward_kind(), source_factors_,
                                    weight_factors_, bias_, result_),
        builder.PrimitiveAttributes(), builder.engine());
    input_factors_ = builder.Reordered(input, source_, source_factors_);
    kernel_factors_ = builder.Reordered(builder.variable(kernel()), weights_,
                                        weight_factors_);
    Tensor* const values =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    std::vector<PrimitiveArgument> arguments = {
        {DNNL_ARG_SRC, input_factors_, source_factors_},
        {DNNL_ARG_WEIGHTS, kernel_factors_, weight_factors_},
        {DNNL_ARG_DST, values, result_}};
    if (layer_.use_bias) {
      arguments.push_back({DNNL_ARG_BIAS, builder.variable(bias()), bias_});
    }
    builder.AddPrimitive(inner_product_forward(forward_),
                         forward_.scratchpad_desc(), std::move(arguments));
    return activation_.AddForwardOver(values, builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    Tensor* const gradient = builder.Reordered(
        activation_.AddBackward(output, builder), result_, result_factors_);
    if (layer_.trainable) AddBackwardWeights(gradient, builder);
    if (!wants_input) return {};
    return {AddBackwardData(gradient, builder)};
  }

  Tensor* before_activation() const override { return activation_.input(); }

 private:
  int kernel() const { return node_.variables[0]; }
  int bias() const { return node_.variables[1]; }

  void AddBackwardWeights(Tensor* gradient, ProgramBuilder& builder) {
    const inner_product_backward_weights::primitive_desc description(
        inner_product_backward_weights::desc(source_factors_, weights_, bias_,
                                             result_factors_),
        builder.PrimitiveAttributes(), builder.engine(), forward_);
    std::vector<PrimitiveArgument> arguments = {
        {DNNL_ARG_SRC, input_factors_, source_factors_},
        {DNNL_ARG_DIFF_DST, gradient, result_factors_},
        {DNNL_ARG_DIFF_WEIGHTS, builder.gradient(kernel()), weights_}};
    if (layer_.use_bias) {
      arguments.push_back(
          {DNNL_ARG_DIFF_BIAS, builder.gradient(bias()), bias_});
    }
    builder.AddPrimitive(inner_product_backward_weights(description),
                         description.scratchpad_desc(), std::move(arguments));
    for (const int variable : node_.variables) builder.FinishGradient(variable);
  }

  Tensor* AddBackwardData(Tensor* gradient, ProgramBuilder& builder) {
    const inner_product_backward_data::primitive_desc description(
        inner_product_backward_data::desc(source_, weight_factors_,
                                          result_factors_),
        builder.PrimitiveAttributes(), builder.engine(), forward_);
    Tensor* const input_gradient = builder.NewTensor(input_shape_);
    builder.AddPrimitive(inner_product_backward_data(description),
                         description.scratchpad_desc(),
                         {{DNNL_ARG_DIFF_DST, gradient, result_factors_},
                          {DNNL_ARG_WEIGHTS, kernel_factors_, weight_factors_},
                          {DNNL_ARG_DIFF_SRC, input_gradient, source_}});
    return input_gradient;
  }

  const Dense& layer_;
  const Node& node_;
  FinalActivation activation_;
  Shape input_shape_;
  // What is multiplied: as builder.factor_type() says.
  Tensor* input_factors_ = nullptr;
  Tensor* kernel_factors_ = nullptr;
  dnnl::memory::desc source_;
  dnnl::memory::desc source_factors_;
  dnnl::memory::desc weights_;
  dnnl::memory::desc weight_factors_;
  dnnl::memory::desc bias_;
  dnnl::memory::desc result_;
  dnnl::memory::desc result_factors_;
  inner_product_forward::primitive_desc forward_;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeDense(const Graph& graph,
                                           const Node& node) {
  return std::make_unique<DenseComputation>(
      static_cast<const Dense&>(*node.layer), graph, node);
}

}  // namespace paceline::cpu
