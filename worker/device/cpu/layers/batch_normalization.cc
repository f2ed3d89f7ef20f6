#include "common/model/layers/batch_normalization.h"

#include <algorithm>
#include <cmath>

#include "worker/device/cpu/kernels/channel_moments.h"
#include "worker/device/cpu/layers/layers.h"

namespace paceline::cpu {
namespace {

float InverseDeviation(double variance, double epsilon) {
  return static_cast<float>(1 / std::sqrt(std::max(variance, 0.0) + epsilon));
}

double* DoublesOf(const Tensor* tensor) {
  return reinterpret_cast<double*>(tensor->data());
}

// By hand: the statistics of several replicas must meet between the sums and
// the normalization. All leading dimensions are rows.
class BatchNormalizationComputation final : public LayerComputation {
 public:
  BatchNormalizationComputation(const BatchNormalization& layer,
                                const Node& node)
      : layer_(layer), node_(node) {}

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    matrix_.channels = input->shape.back();
    matrix_.rows = input->count() / matrix_.channels;
    gamma_ = layer_.scale ? builder.variable(node_.variables[0]) : nullptr;
    beta_ = layer_.center ? builder.variable(beta()) : nullptr;
    mean_ = builder.NewTensor({matrix_.channels});
    factor_ = builder.NewTensor({matrix_.channels});
    if (builder.is_training() && layer_.trainable) {
      AddBatchStatistics(builder);
    } else {
      AddMovingStatistics(builder);
    }
    return AddNormalization(builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    if (!layer_.trainable) return AddFrozenBackward(output, builder);
    Tensor* const sums = AddProducts(output.tensor, builder);
    if (layer_.scale) builder.FinishGradient(node_.variables[0]);
    if (layer_.center) builder.FinishGradient(beta());
    // The other replicas wait for the sums in any case.
    AddReplicaSum(sums, 2 * matrix_.channels, builder);
    if (!wants_input) return {};
    return {AddInputGradient(output.tensor, sums, builder)};
  }

 private:
  int beta() const { return node_.variables[layer_.scale ? 1 : 0]; }
  int moving_mean() const { return node_.variables.end()[-2]; }
  int moving_variance() const { return node_.variables.back(); }
  // Work on blocks of channels, over all rows.
  template <typename Body>
  void AddOverChannels(ProgramBuilder& builder,
                       const std::vector<const Tensor*>& used, Body body) {
    const int64_t channels = matrix_.channels;
    builder.AddParallel(
        used, (channels + kMomentBlock - 1) / kMomentBlock,
        kMomentBlock * matrix_.rows, [=](int64_t begin, int64_t end) {
          body(begin * kMomentBlock, std::min(end * kMomentBlock, channels));
        });
  }

  void AddReplicaSum(Tensor* sums, int64_t count, ProgramBuilder& builder) {
    ReplicaSum* const replicas = builder.spec().replica_sum;
    if (!layer_.synchronized || replicas == nullptr) return;
    builder.Add({sums}, [=](const Step&) {
      replicas->AddUp({DoublesOf(sums), static_cast<size_t>(count)});
    });
  }

  // The mean and variance of the batch, and what they move the others by.
  void AddBatchStatistics(ProgramBuilder& builder) {
    const ChannelMatrix matrix = matrix_;
    const int64_t channels = matrix.channels;
    // N, Σ x, Σ x².
    Tensor* const sums =
        builder.NewTensor({1 + 2 * channels}, DataType::kFloat64);
    AddOverChannels(builder, {input_, sums},
                    [=, input = input_](int64_t begin, int64_t end) {
                      double* const sum = DoublesOf(sums) + 1;
                      double* const squares = sum + channels;
                      ChannelMoments(matrix, begin, end, input->floats(), sum,
                                     squares);
                      const auto rows = static_cast<double>(matrix.rows);
                      for (int64_t c = begin; c < end; ++c) {
                        squares[c] += sum[c] * sum[c] / rows;
                      }
                    });
    builder.Add({sums}, [=](const Step&) {
      DoublesOf(sums)[0] = static_cast<double>(matrix.rows);
    });
    AddReplicaSum(sums, 1 + 2 * channels, builder);
    rows_ = builder.NewTensor({1}, DataType::kFloat64);
    builder.Add(
        {sums, mean_, factor_, rows_},
        [=, layer = &layer_, mean = mean_, factor = factor_, total = rows_,
         means = builder.variable(moving_mean()),
         variances = builder.variable(moving_variance()),
         mean_differences = builder.gradient(moving_mean()),
         variance_differences =
             builder.gradient(moving_variance())](const Step& step) {
          const double* const sum = DoublesOf(sums);
          const double rows = sum[0];
          *DoublesOf(total) = rows;
          const double rate =
              step.batch.regularization_scale * (1 - layer->momentum);
          for (int64_t c = 0; c < channels; ++c) {
            const double batch_mean = sum[1 + c] / rows;
            const double variance = std::max(
                sum[1 + channels + c] / rows - batch_mean * batch_mean, 0.0);
            mean->floats()[c] = static_cast<float>(batch_mean);
            factor->floats()[c] = InverseDeviation(variance, layer->epsilon);
            mean_differences->floats()[c] = static_cast<float>(
                rate * (batch_mean - double{means->floats()[c]}));
            variance_differences->floats()[c] = static_cast<float>(
                rate * (variance - double{variances->floats()[c]}));
          }
        });
    builder.FinishGradient(moving_mean());
    builder.FinishGradient(moving_variance());
  }

  void AddMovingStatistics(ProgramBuilder& builder) {
    builder.Add({mean_, factor_},
                [layer = &layer_, mean = mean_, factor = factor_,
                 means = builder.variable(moving_mean()),
                 variances = builder.variable(moving_variance())](const Step&) {
                  for (int64_t c = 0; c < means->count(); ++c) {
                    mean->floats()[c] = means->floats()[c];
                    factor->floats()[c] = InverseDeviation(
                        double{variances->floats()[c]}, layer->epsilon);
                  }
                });
  }

  Tensor* AddNormalization(ProgramBuilder& builder) {
    Tensor* const output =
        builder.NewTensor(builder.BatchShape(node_.output_shape));
    const int64_t channels = matrix_.channels;
    builder.AddParallel(
        {input_, output, mean_, factor_}, matrix_.rows, channels,
        [=, input = input_, factor = factor_, means = mean_, gamma = gamma_,
         beta = beta_](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const float* const x = input->floats() + row * channels;
            float* const y = output->floats() + row * channels;
            const float* const m = means->floats();
            const float* const f = factor->floats();
            for (int64_t c = 0; c < channels; ++c) y[c] = (x[c] - m[c]) * f[c];
            if (gamma != nullptr) {
              for (int64_t c = 0; c < channels; ++c) y[c] *= gamma->floats()[c];
            }
            if (beta != nullptr) {
              for (int64_t c = 0; c < channels; ++c) y[c] += beta->floats()[c];
            }
          }
        });
    return output;
  }

  // Σ dy and Σ dy·x̂, which are the gradients of beta and gamma.
  Tensor* AddProducts(Tensor* gradient, ProgramBuilder& builder) {
    const ChannelMatrix matrix = matrix_;
    const int64_t channels = matrix.channels;
    Tensor* const sums = builder.NewTensor({2 * channels}, DataType::kFloat64);
    Tensor* const of_gamma =
        layer_.scale ? builder.gradient(node_.variables[0]) : nullptr;
    Tensor* const of_beta = layer_.center ? builder.gradient(beta()) : nullptr;
    AddOverChannels(
        builder, {gradient, input_, mean_, factor_, sums},
        [=, input = input_, mean = mean_, factor = factor_](int64_t begin,
                                                            int64_t end) {
          double* const sum = DoublesOf(sums);
          double* const products = sum + channels;
          ChannelProducts(matrix, begin, end, gradient->floats(),
                          input->floats(), mean->floats(), sum, products);
          for (int64_t c = begin; c < end; ++c) {
            products[c] *= double{factor->floats()[c]};
            if (of_beta != nullptr) {
              of_beta->floats()[c] = static_cast<float>(sum[c]);
            }
            if (of_gamma != nullptr) {
              of_gamma->floats()[c] = static_cast<float>(products[c]);
            }
          }
        });
    return sums;
  }

  // dx = gamma / √(variance + epsilon) · dy.
  OutputGradient AddFrozenBackward(OutputGradient output,
                                   ProgramBuilder& builder) {
    const int64_t channels = matrix_.channels;
    Tensor* const gradient = Overwritable(output, builder);
    builder.AddParallel(
        {gradient, factor_}, matrix_.rows, channels,
        [=, factor = factor_, gamma = gamma_](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            float* const dy = gradient->floats() + row * channels;
            const float* const f = factor->floats();
            for (int64_t c = 0; c < channels; ++c) dy[c] *= f[c];
            if (gamma == nullptr) continue;
            for (int64_t c = 0; c < channels; ++c) dy[c] *= gamma->floats()[c];
          }
        });
    return {gradient};
  }

  // With N rows and x̂ the normalized input,
  //   dx = gamma / √(variance + epsilon) · (dy − Σ dy / N − x̂ · Σ dy·x̂ / N).
  Tensor* AddInputGradient(Tensor* gradient, Tensor* sums,
                           ProgramBuilder& builder) {
    const int64_t channels = matrix_.channels;
    Tensor* const input_gradient = builder.NewTensor(input_->shape);
    // Σ dy / N, then Σ dy·x̂ / N / √(variance + epsilon).
    Tensor* const shares = builder.NewTensor({2 * channels});
    Tensor* const scales = builder.NewTensor({channels});
    builder.Add(
        {sums, rows_, factor_, shares, scales},
        [=, rows = rows_, factor = factor_, gamma = gamma_](const Step&) {
          for (int64_t c = 0; c < channels; ++c) {
            const float f = factor->floats()[c];
            const double n = *DoublesOf(rows);
            shares->floats()[c] = static_cast<float>(DoublesOf(sums)[c] / n);
            shares->floats()[channels + c] = static_cast<float>(
                DoublesOf(sums)[channels + c] / n * double{f});
            scales->floats()[c] = gamma == nullptr ? f : f * gamma->floats()[c];
          }
        });
    builder.AddParallel(
        {gradient, input_, mean_, shares, scales, input_gradient}, matrix_.rows,
        channels,
        [=, input = input_, mean = mean_](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const float* const x = input->floats() + row * channels;
            const float* const dy = gradient->floats() + row * channels;
            float* const dx = input_gradient->floats() + row * channels;
            const float* const m = mean->floats();
            const float* const s = shares->floats();
            const float* const scale = scales->floats();
            for (int64_t c = 0; c < channels; ++c) {
              dx[c] =
                  scale[c] * (dy[c] - s[c] - (x[c] - m[c]) * s[channels + c]);
            }
          }
        });
    return input_gradient;
  }

  const BatchNormalization& layer_;
  const Node& node_;
  ChannelMatrix matrix_;
  Tensor* input_ = nullptr;
  // Null where there is none.
  Tensor* gamma_ = nullptr;
  Tensor* beta_ = nullptr;
  // What the input is normalized by: its mean and 1 / √(variance + epsilon).
  Tensor* mean_ = nullptr;
  Tensor* factor_ = nullptr;
  // How many rows the statistics are of.
  Tensor* rows_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeBatchNormalization(const Graph& /*graph*/,
                                                        const Node& node) {
  return std::make_unique<BatchNormalizationComputation>(
      static_cast<const BatchNormalization&>(*node.layer), node);
}

}  // namespace paceline::cpu
