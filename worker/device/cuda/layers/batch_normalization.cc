#include "common/model/layers/batch_normalization.h"

#include <functional>

#include "worker/device/cuda/layers/layers.h"
#include "worker/device/program/fused_clamp.h"

namespace paceline::cuda {
namespace {

// All leading dimensions are rows.
class BatchNormalizationComputation final : public LayerComputation {
 public:
  BatchNormalizationComputation(const BatchNormalization& layer,
                                const Node& node, const op::Clamp& clamp)
      : layer_(layer), node_(node), clamp_(clamp) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    channels_ = input->shape.back();
    rows_ = input->count() / channels_;
    parts_ = PartCount(rows_);
    lines_ = builder.NewTensor<ChannelLine>({channels_});
    if (builder.is_training() && layer_.trainable) {
      AddBatchStatistics(builder);
    } else {
      AddMovingStatistics(builder);
    }
    Tensor* const output = builder.NewTensor(input->shape);
    builder.AddKernel(
        {input, lines_, output}, input->count(),
        [=, channels = channels_, clamp = clamp_, lines = lines_] {
          return Normalize{channels, clamp, lines->as<ChannelLine>(),
                           ValuesOf(input), ValuesOf(output)};
        });
    return output;
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    const Tensor* const slopes =
        layer_.trainable ? AddSlopes(output.tensor, builder) : nullptr;
    if (!wants_input) return {};
    return {AddInputGradient(output, slopes, builder)};
  }

 private:
  int gamma() const { return node_.variables[0]; }
  int beta() const { return node_.variables[layer_.scale ? 1 : 0]; }
  int moving_mean() const { return node_.variables.end()[-2]; }
  int moving_variance() const { return node_.variables.back(); }

  // To be called as a kernel is enqueued: with addresses.
  std::function<LineMaker()> Maker(ProgramBuilder& builder) const {
    return [epsilon = layer_.epsilon,
            gamma = layer_.scale ? builder.variable(gamma()) : nullptr,
            beta = layer_.center ? builder.variable(beta()) : nullptr] {
      return LineMaker{epsilon, FloatsOrNull(gamma), FloatsOrNull(beta)};
    };
  }

  const Tensor* AddValueSums(ProgramBuilder& builder) {
    Tensor* const part_sums = builder.NewTensor<double>({parts_, channels_});
    builder.AddKernel({input_, part_sums}, parts_ * channels_,
                      [=, rows = rows_, channels = channels_, parts = parts_,
                       input = input_] {
                        return ColumnSums<ConstValues, double>{
                            rows, channels, parts, ValuesOf(input),
                            part_sums->doubles()};
                      });
    return builder.AddSumOfParts(part_sums, parts_, channels_);
  }

  const Tensor* AddDeviationSums(const Tensor* value_sums,
                                 ProgramBuilder& builder) {
    Tensor* const part_sums = builder.NewTensor<double>({parts_, channels_});
    builder.AddKernel({input_, value_sums, part_sums}, parts_ * channels_,
                      [=, rows = rows_, channels = channels_, parts = parts_,
                       input = input_] {
                        return DeviationSums{rows,
                                             channels,
                                             parts,
                                             ValuesOf(input),
                                             value_sums->doubles(),
                                             part_sums->doubles()};
                      });
    return builder.AddSumOfParts(part_sums, parts_, channels_);
  }

  // The mean and variance of the batch, and what they move the others by.
  void AddBatchStatistics(ProgramBuilder& builder) {
    const Tensor* const values = AddValueSums(builder);
    const Tensor* const deviations = AddDeviationSums(values, builder);
    moments_ = builder.NewTensor<double>({1 + 2 * channels_});
    builder.AddKernel(
        {values, deviations, moments_}, channels_,
        [=, rows = rows_, channels = channels_, moments = moments_] {
          return ChannelMoments{rows, channels, values->doubles(),
                                deviations->doubles(), moments->doubles()};
        });
    if (layer_.synchronized) builder.AddReplicaSum(moments_);
    builder.AddKernel(
        {moments_, lines_}, channels_,
        [channels = channels_, moments = moments_, maker = Maker(builder),
         one_minus_momentum = 1 - layer_.momentum, step = builder.step(),
         mean = builder.variable(moving_mean()),
         variance = builder.variable(moving_variance()),
         mean_difference = builder.gradient(moving_mean()),
         variance_difference = builder.gradient(moving_variance()),
         lines = lines_] {
          return BatchStatistics{
              .channels = channels,
              .moments = moments->doubles(),
              .maker = maker(),
              .one_minus_momentum = one_minus_momentum,
              .step = step,
              .moving_mean = mean->floats(),
              .moving_variance = variance->floats(),
              .mean_difference = mean_difference->floats(),
              .variance_difference = variance_difference->floats(),
              .lines = lines->as<ChannelLine>()};
        });
    builder.FinishGradient(moving_mean());
    builder.FinishGradient(moving_variance());
  }

  void AddMovingStatistics(ProgramBuilder& builder) {
    builder.AddKernel(
        {lines_}, channels_,
        [maker = Maker(builder), mean = builder.variable(moving_mean()),
         variance = builder.variable(moving_variance()), lines = lines_] {
          return MovingStatistics{maker(), mean->floats(), variance->floats(),
                                  lines->as<ChannelLine>()};
        });
  }

  // A ChannelSlope each. The gradients of gamma and beta on the way.
  const Tensor* AddSlopes(const Tensor* gradient, ProgramBuilder& builder) {
    const Tensor* const sums = AddGradientSums(gradient, builder);
    AddParameterGradients(sums, builder);
    // The other replicas wait for the sums in any case.
    if (layer_.synchronized) builder.AddReplicaSum(sums);
    Tensor* const slopes = builder.NewTensor<ChannelSlope>({channels_});
    builder.AddKernel(
        {moments_, sums, lines_, slopes}, channels_,
        [=, channels = channels_, moments = moments_, lines = lines_] {
          return ChannelSlopes{channels, moments->doubles(), sums->doubles(),
                               lines->as<ChannelLine>(),
                               slopes->as<ChannelSlope>()};
        });
    return slopes;
  }

  // Σ g, then Σ g·x̂.
  const Tensor* AddGradientSums(const Tensor* gradient,
                                ProgramBuilder& builder) {
    Tensor* const part_sums = builder.NewTensor<double>({parts_, 2, channels_});
    builder.AddKernel({input_, gradient, lines_, part_sums}, parts_ * channels_,
                      [=, rows = rows_, channels = channels_, parts = parts_,
                       clamp = clamp_, lines = lines_, input = input_] {
                        return NormalizeGradientSums{rows,
                                                     channels,
                                                     parts,
                                                     clamp,
                                                     lines->as<ChannelLine>(),
                                                     ValuesOf(input),
                                                     ValuesOf(gradient),
                                                     part_sums->doubles()};
                      });
    return builder.AddSumOfParts(part_sums, parts_, 2 * channels_);
  }

  void AddParameterGradients(const Tensor* sums, ProgramBuilder& builder) {
    Tensor* const of_gamma = layer_.scale ? builder.gradient(gamma()) : nullptr;
    Tensor* const of_beta = layer_.center ? builder.gradient(beta()) : nullptr;
    builder.AddKernel({sums}, channels_, [=, channels = channels_] {
      return NormalizeParameterGradients{channels, sums->doubles(),
                                         FloatsOrNull(of_gamma),
                                         FloatsOrNull(of_beta)};
    });
    if (layer_.scale) builder.FinishGradient(gamma());
    if (layer_.center) builder.FinishGradient(beta());
  }

  // Without `slopes`, the statistics are not those of the batch.
  Tensor* AddInputGradient(OutputGradient output, const Tensor* slopes,
                           ProgramBuilder& builder) {
    Tensor* const gradient = output.tensor;
    Tensor* const input_gradient =
        output.is_shared ? builder.NewTensor(input_->shape) : gradient;
    builder.NoteOverwriting(input_gradient);
    std::vector<const Tensor*> used = {input_, lines_, gradient,
                                       input_gradient};
    if (slopes != nullptr) used.push_back(slopes);
    builder.AddKernel(
        used, input_->count(),
        [=, channels = channels_, clamp = clamp_, lines = lines_,
         input = input_] {
          return NormalizeBackward{
              channels,
              clamp,
              lines->as<ChannelLine>(),
              slopes == nullptr ? nullptr : slopes->as<ChannelSlope>(),
              ValuesOf(input),
              ValuesOf(gradient),
              ValuesOf(input_gradient)};
        });
    return input_gradient;
  }

  const BatchNormalization& layer_;
  const Node& node_;
  const op::Clamp clamp_;
  Tensor* input_ = nullptr;
  int64_t rows_ = 0;
  int64_t channels_ = 0;
  int64_t parts_ = 1;
  // Of all replicas that share them: N, Σ x, Σ x².
  Tensor* moments_ = nullptr;
  // A ChannelLine each.
  Tensor* lines_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeBatchNormalization(const Graph& graph,
                                                        const Node& node) {
  return std::make_unique<BatchNormalizationComputation>(
      static_cast<const BatchNormalization&>(*node.layer), node,
      ClampBehind(graph, node));
}

}  // namespace paceline::cuda
