#include "common/model/layers/layer_normalization.h"

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class LayerNormalizationComputation final : public LayerComputation {
 public:
  LayerNormalizationComputation(const LayerNormalization& layer,
                                const Node& node)
      : layer_(layer), node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    size_ = NumElements(layer_.NormalizedShape(input->shape));
    rows_ = input->count() / size_;
    scales_ = builder.NewTensor<RowScale>({rows_});
    if (layer_.scale) gamma_ = builder.variable(node_.variables.front());
    Tensor* const beta =
        layer_.center ? builder.variable(node_.variables.back()) : nullptr;
    builder.AddKernel(
        {input, scales_}, rows_,
        [=, size = size_, epsilon = layer_.epsilon, scales = scales_] {
          return RowStatistics{size, epsilon, ValuesOf(input),
                               scales->as<RowScale>()};
        });
    Tensor* const output = builder.NewTensor(input->shape);
    builder.AddKernel({input, scales_, output}, input->count(),
                      [=, size = size_, scales = scales_, gamma = gamma_] {
                        return NormalizeRows{size,
                                             scales->as<RowScale>(),
                                             FloatsOrNull(gamma),
                                             FloatsOrNull(beta),
                                             ValuesOf(input),
                                             ValuesOf(output)};
                      });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!node_.variables.empty() && layer_.trainable) {
      AddVariableGradients(output.tensor, builder);
    }
    if (!wants_input) return {};
    return {AddInputGradient(output.tensor, builder)};
  }

 private:
  void AddVariableGradients(const Tensor* gradient, ProgramBuilder& builder) {
    const int64_t parts = PartCount(rows_);
    Tensor* const part_sums = builder.NewTensor<double>({parts, 2, size_});
    builder.AddKernel(
        {input_, scales_, gradient, part_sums}, parts * size_,
        [=, rows = rows_, size = size_, scales = scales_, input = input_] {
          return RowParameterSums{rows,
                                  size,
                                  parts,
                                  scales->as<RowScale>(),
                                  ValuesOf(input),
                                  ValuesOf(gradient),
                                  part_sums->doubles()};
        });
    const Tensor* const sums =
        builder.AddSumOfParts(part_sums, parts, 2 * size_);
    Tensor* const gamma =
        layer_.scale ? builder.gradient(node_.variables.front()) : nullptr;
    Tensor* const beta =
        layer_.center ? builder.gradient(node_.variables.back()) : nullptr;
    builder.AddKernel({sums}, size_, [=, size = size_] {
      return NormalizeParameterGradients{
          size, sums->doubles(), FloatsOrNull(gamma), FloatsOrNull(beta)};
    });
    for (const int variable : node_.variables) builder.FinishGradient(variable);
  }

  Tensor* AddInputGradient(const Tensor* gradient, ProgramBuilder& builder) {
    Tensor* const slopes = builder.NewTensor<RowSlope>({rows_});
    builder.AddKernel(
        {input_, scales_, gradient, slopes}, rows_,
        [=, size = size_, scales = scales_, gamma = gamma_, input = input_] {
          return RowSlopes{size,
                           scales->as<RowScale>(),
                           FloatsOrNull(gamma),
                           ValuesOf(input),
                           ValuesOf(gradient),
                           slopes->as<RowSlope>()};
        });
    Tensor* const input_gradient = builder.NewTensor(input_->shape);
    builder.AddKernel(
        {input_, scales_, slopes, gradient, input_gradient}, input_->count(),
        [=, size = size_, scales = scales_, gamma = gamma_, input = input_] {
          return NormalizeRowsBackward{size,
                                       scales->as<RowScale>(),
                                       slopes->as<RowSlope>(),
                                       FloatsOrNull(gamma),
                                       ValuesOf(input),
                                       ValuesOf(gradient),
                                       ValuesOf(input_gradient)};
        });
    return input_gradient;
  }

  const LayerNormalization& layer_;
  const Node& node_;
  Tensor* input_ = nullptr;
  int64_t rows_ = 0;
  int64_t size_ = 0;
  // A RowScale each.
  Tensor* scales_ = nullptr;
  // Null: ones.
  Tensor* gamma_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeLayerNormalization(const Graph& /*graph*/,
                                                        const Node& node) {
  return std::make_unique<LayerNormalizationComputation>(
      static_cast<const LayerNormalization&>(*node.layer), node);
}

}  // namespace paceline::cuda
