#include "common/model/layers/batch_normalization.h"

#include "worker/device/cuda/layers/layers.h"

namespace paceline::cuda {
namespace {

class BatchNormalizationComputation final : public NodeComputation {
 public:
  BatchNormalizationComputation(const BatchNormalization& layer,
                                const Node& node)
      : layer_(layer), node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    channels_ = input->shape.back();
    rows_ = input->count() / channels_;
    parts_ = PartCount(rows_);
    scales_ = builder.NewTensor({channels_}, sizeof(ChannelScale));
    if (builder.is_training()) {
      AddBatchStatistics(builder);
    } else {
      AddMovingStatistics(builder);
    }
    Tensor* const output = builder.NewTensor(input->shape);
    builder.AddKernel({input, scales_, output}, input->count(),
                      [=, channels = channels_, scales = scales_,
                       gamma = Gamma(builder), beta = Beta(builder)] {
                        return Normalize{
                            channels,
                            scales->as<ChannelScale>(),
                            gamma == nullptr ? nullptr : gamma->floats(),
                            beta == nullptr ? nullptr : beta->floats(),
                            input->floats(),
                            output->floats()};
                      });
    return output;
  }

  Tensor* AddBackward(OutputGradient output, bool wants_input,
                      ProgramBuilder& builder) override {
    Tensor* const gradient = output.tensor;
    Tensor* const sums = AddGradientSums(gradient, builder);
    AddParameterGradients(sums, builder);
    if (!wants_input) return nullptr;
    builder.AddKernel({input_, scales_, sums, gradient}, input_->count(),
                      [=, rows = rows_, channels = channels_, scales = scales_,
                       gamma = Gamma(builder), input = input_] {
                        return NormalizeBackward{
                            rows,
                            channels,
                            scales->as<ChannelScale>(),
                            gamma == nullptr ? nullptr : gamma->floats(),
                            sums->doubles(),
                            input->floats(),
                            gradient->floats()};
                      });
    return gradient;
  }

 private:
  int beta_index() const { return node_.variables[layer_.scale ? 1 : 0]; }
  int moving_mean() const {
    return node_.variables[node_.variables.size() - 2];
  }
  int moving_variance() const { return node_.variables.back(); }
  // Null: there is none.
  Tensor* Gamma(ProgramBuilder& builder) const {
    return layer_.scale ? builder.variable(node_.variables[0]) : nullptr;
  }
  Tensor* Beta(ProgramBuilder& builder) const {
    return layer_.center ? builder.variable(beta_index()) : nullptr;
  }

  // The sums (columns) over the parts, which are doubles.
  Tensor* AddSumOfParts(Tensor* part_sums, int64_t columns,
                        ProgramBuilder& builder) {
    Tensor* const sums = builder.NewTensor({columns}, sizeof(double));
    builder.AddKernel({part_sums, sums}, columns, [=, parts = parts_] {
      return ColumnSums<double, double>{parts, columns, 1, part_sums->doubles(),
                                        sums->doubles()};
    });
    return sums;
  }

  Tensor* AddValueSums(ProgramBuilder& builder) {
    Tensor* const part_sums =
        builder.NewTensor({parts_, channels_}, sizeof(double));
    builder.AddKernel({input_, part_sums}, parts_ * channels_,
                      [=, rows = rows_, channels = channels_, parts = parts_,
                       input = input_] {
                        return ColumnSums<float, double>{rows, channels, parts,
                                                         input->floats(),
                                                         part_sums->doubles()};
                      });
    return AddSumOfParts(part_sums, channels_, builder);
  }

  Tensor* AddDeviationSums(Tensor* value_sums, ProgramBuilder& builder) {
    Tensor* const part_sums =
        builder.NewTensor({parts_, channels_}, sizeof(double));
    builder.AddKernel({input_, value_sums, part_sums}, parts_ * channels_,
                      [=, rows = rows_, channels = channels_, parts = parts_,
                       input = input_] {
                        return DeviationSums{rows,
                                             channels,
                                             parts,
                                             input->floats(),
                                             value_sums->doubles(),
                                             part_sums->doubles()};
                      });
    return AddSumOfParts(part_sums, channels_, builder);
  }

  void AddBatchStatistics(ProgramBuilder& builder) {
    Tensor* const values = AddValueSums(builder);
    Tensor* const deviations = AddDeviationSums(values, builder);
    builder.AddKernel(
        {values, deviations, scales_}, channels_,
        [=, rows = rows_, epsilon = layer_.epsilon,
         one_minus_momentum = 1 - layer_.momentum, step = builder.step(),
         mean = builder.variable(moving_mean()),
         variance = builder.variable(moving_variance()),
         mean_difference = builder.gradient(moving_mean()),
         variance_difference = builder.gradient(moving_variance()),
         scales = scales_] {
          return BatchStatistics{
              .rows = rows,
              .value_sums = values->doubles(),
              .deviation_sums = deviations->doubles(),
              .epsilon = epsilon,
              .one_minus_momentum = one_minus_momentum,
              .step = step,
              .moving_mean = mean->floats(),
              .moving_variance = variance->floats(),
              .mean_difference = mean_difference->floats(),
              .variance_difference = variance_difference->floats(),
              .scales = scales->as<ChannelScale>()};
        });
    builder.FinishGradient(moving_mean());
    builder.FinishGradient(moving_variance());
  }

  void AddMovingStatistics(ProgramBuilder& builder) {
    builder.AddKernel(
        {scales_}, channels_,
        [epsilon = layer_.epsilon, mean = builder.variable(moving_mean()),
         variance = builder.variable(moving_variance()), scales = scales_] {
          return MovingStatistics{epsilon, mean->floats(), variance->floats(),
                                  scales->as<ChannelScale>()};
        });
  }

  // Σ dy, then Σ dy·x̂.
  Tensor* AddGradientSums(Tensor* gradient, ProgramBuilder& builder) {
    Tensor* const part_sums =
        builder.NewTensor({parts_, 2, channels_}, sizeof(double));
    builder.AddKernel({input_, gradient, scales_, part_sums},
                      parts_ * channels_,
                      [=, rows = rows_, channels = channels_, parts = parts_,
                       scales = scales_, input = input_] {
                        return NormalizeGradientSums{rows,
                                                     channels,
                                                     parts,
                                                     scales->as<ChannelScale>(),
                                                     input->floats(),
                                                     gradient->floats(),
                                                     part_sums->doubles()};
                      });
    return AddSumOfParts(part_sums, 2 * channels_, builder);
  }

  void AddParameterGradients(Tensor* sums, ProgramBuilder& builder) {
    Tensor* const gamma =
        layer_.scale ? builder.gradient(node_.variables[0]) : nullptr;
    Tensor* const beta =
        layer_.center ? builder.gradient(beta_index()) : nullptr;
    builder.AddKernel({sums}, channels_, [=, channels = channels_] {
      return NormalizeParameterGradients{
          channels, sums->doubles(),
          gamma == nullptr ? nullptr : gamma->floats(),
          beta == nullptr ? nullptr : beta->floats()};
    });
    if (layer_.scale) builder.FinishGradient(node_.variables[0]);
    if (layer_.center) builder.FinishGradient(beta_index());
  }

  const BatchNormalization& layer_;
  const Node& node_;
  Tensor* input_ = nullptr;
  int64_t rows_ = 0;
  int64_t channels_ = 0;
  int64_t parts_ = 1;
  // A ChannelScale each.
  Tensor* scales_ = nullptr;
};

}  // namespace

// Not synchronized: replicas cannot meet inside a captured graph.
std::unique_ptr<NodeComputation> MakeBatchNormalization(const Graph& /*graph*/,
                                                        const Node& node) {
  const auto& layer = static_cast<const BatchNormalization&>(*node.layer);
  if (layer.synchronized) return nullptr;
  return std::make_unique<BatchNormalizationComputation>(layer, node);
}

}  // namespace paceline::cuda
