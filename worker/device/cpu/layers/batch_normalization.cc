#include "common/model/layers/batch_normalization.h"

#include <algorithm>
#include <cmath>

#include "worker/device/cpu/factor_outputs.h"
#include "worker/device/cpu/kernels/batch_normalization.h"
#include "worker/device/cpu/layers/layers.h"
#include "worker/device/program/fused_clamp.h"

namespace paceline::cpu {
namespace {

// Rows fall into at most so many parts, whose sums are added up in order: the
// same bits with any number of threads.
constexpr int64_t kMaxParts = 32;
// No fewer rows are a part.
constexpr int64_t kMinPartRows = 64;

ConstStored ReadFrom(const Tensor* tensor) {
  return {tensor->data(), tensor->type};
}
Stored WriteTo(const Tensor* tensor) { return {tensor->data(), tensor->type}; }

// What each channel is normalized by.
struct ChannelTensors {
  int64_t channels = 0;
  double epsilon = 0;
  op::Clamp clamp;
  // Null where there is none.
  const Tensor* gamma = nullptr;
  const Tensor* beta = nullptr;
  // The mean, 1 / √(variance + epsilon), that times gamma, and beta.
  Tensor* means = nullptr;
  Tensor* factors = nullptr;
  Tensor* scales = nullptr;
  Tensor* offsets = nullptr;

  void Set(int64_t c, double mean, double variance) const {
    const auto factor =
        static_cast<float>(1 / std::sqrt(std::max(variance, 0.0) + epsilon));
    means->floats()[c] = static_cast<float>(mean);
    factors->floats()[c] = factor;
    scales->floats()[c] =
        gamma == nullptr ? factor : factor * gamma->floats()[c];
    offsets->floats()[c] = beta == nullptr ? 0.0f : beta->floats()[c];
  }

  ChannelLines lines() const {
    return {channels, means->floats(), scales->floats(), offsets->floats(),
            clamp};
  }

  std::vector<const Tensor*> used(std::vector<const Tensor*> more) const {
    more.insert(more.end(), {means, factors, scales, offsets});
    return more;
  }
};

// By hand: the statistics of several replicas must meet between the sums and
// the normalization. All leading dimensions are rows.
class BatchNormalizationComputation final : public LayerComputation {
 public:
  // With `is_read_as_factors`, the output is of the type that is multiplied.
  BatchNormalizationComputation(const BatchNormalization& layer,
                                const Node& node, const op::Clamp& clamp,
                                bool is_read_as_factors)
      : layer_(layer), node_(node), is_read_as_factors_(is_read_as_factors) {
    line_.epsilon = layer.epsilon;
    line_.clamp = clamp;
  }

  Tensor* AddForward(Tensor* input, ProgramBuilder& builder) override {
    input_ = input;
    channels_ = input->shape.back();
    rows_ = input->count() / channels_;
    parts_ = std::clamp<int64_t>(rows_ / kMinPartRows, 1, kMaxParts);
    line_.channels = channels_;
    if (layer_.scale) line_.gamma = builder.variable(gamma());
    if (layer_.center) line_.beta = builder.variable(beta());
    for (Tensor** each :
         {&line_.means, &line_.factors, &line_.scales, &line_.offsets}) {
      *each = builder.NewTensor({channels_});
    }
    if (uses_batch(builder)) {
      AddBatchStatistics(builder);
    } else {
      AddMovingStatistics(builder);
    }
    return AddNormalization(builder);
  }

  OutputGradient AddBackward(OutputGradient output, bool wants_input,
                             ProgramBuilder& builder) override {
    shares_ = builder.NewTensor({channels_});
    slopes_ = builder.NewTensor({channels_});
    if (layer_.trainable) {
      AddVariableGradients(output.tensor, builder);
    } else {
      builder.Add({shares_, slopes_},
                  [shares = shares_, slopes = slopes_](const Step&) {
                    std::fill_n(shares->floats(), shares->count(), 0.0f);
                    std::fill_n(slopes->floats(), slopes->count(), 0.0f);
                  });
    }
    if (!wants_input) return {};
    return {AddInputGradient(output, builder)};
  }

 private:
  int gamma() const { return node_.variables[0]; }
  int beta() const { return node_.variables[layer_.scale ? 1 : 0]; }
  int moving_mean() const { return node_.variables.end()[-2]; }
  int moving_variance() const { return node_.variables.back(); }
  bool uses_batch(const ProgramBuilder& builder) const {
    return builder.is_training() && layer_.trainable;
  }

  void AddReplicaSum(Tensor* sums, ProgramBuilder& builder) {
    ReplicaSum* const replicas = builder.spec().replica_sum;
    if (!layer_.synchronized || replicas == nullptr) return;
    builder.Add({sums}, [=](const Step&) {
      replicas->AddUp({sums->doubles(), static_cast<size_t>(sums->count())});
    });
  }

  // Two sums of each channel over all rows: those of each part by
  // `sum(begin row, end row, first, second)`, then added up in `sums`.
  template <typename Sum>
  Tensor* AddSums(std::vector<const Tensor*> used, Sum sum,
                  ProgramBuilder& builder) {
    Tensor* const of_parts = builder.NewTensor<double>({parts_, 2 * channels_});
    Tensor* const sums = builder.NewTensor<double>({2 * channels_});
    used.push_back(of_parts);
    builder.AddParallel(used, parts_, rows_ * channels_ / parts_,
                        [=, rows = rows_, parts = parts_, channels = channels_](
                            int64_t begin, int64_t end) {
                          for (int64_t part = begin; part < end; ++part) {
                            double* const first =
                                of_parts->doubles() + part * 2 * channels;
                            sum(rows * part / parts, rows * (part + 1) / parts,
                                first, first + channels);
                          }
                        });
    builder.Add({of_parts, sums}, [=, parts = parts_](const Step&) {
      const int64_t count = sums->count();
      std::copy_n(of_parts->doubles(), count, sums->doubles());
      for (int64_t part = 1; part < parts; ++part) {
        const double* const more = of_parts->doubles() + part * count;
        for (int64_t i = 0; i < count; ++i) sums->doubles()[i] += more[i];
      }
    });
    return sums;
  }

  // The mean and variance of the batch, and what they move the others by.
  void AddBatchStatistics(ProgramBuilder& builder) {
    const int64_t channels = channels_;
    // Values are summed as differences to the first row, which lie closer to
    // each other than to 0.
    Tensor* const shifts = builder.NewTensor({channels});
    builder.Add({input_, shifts}, [=, input = input_](const Step&) {
      WithTyped(ReadFrom(input), [&](const auto* x) {
        for (int64_t c = 0; c < channels; ++c) {
          shifts->floats()[c] = Load(x[c]);
        }
      });
    });
    Tensor* const moments = AddSums(
        {input_, shifts},
        [=, input = input_](int64_t begin, int64_t end, double* sums,
                            double* squares) {
          ChannelMoments(channels, begin, end, ReadFrom(input),
                         shifts->floats(), sums, squares);
        },
        builder);
    // N, Σ x, Σ x².
    Tensor* const sums = builder.NewTensor<double>({1 + 2 * channels});
    builder.Add({moments, shifts, sums}, [=, rows = rows_](const Step&) {
      const auto count = static_cast<double>(rows);
      sums->doubles()[0] = count;
      for (int64_t c = 0; c < channels; ++c) {
        const double shift = double{shifts->floats()[c]};
        const double sum = moments->doubles()[c];
        sums->doubles()[1 + c] = sum + count * shift;
        sums->doubles()[1 + channels + c] = moments->doubles()[channels + c] +
                                            shift * (2 * sum + count * shift);
      }
    });
    AddReplicaSum(sums, builder);
    total_rows_ = builder.NewTensor<double>({1});
    builder.Add(line_.used({sums, total_rows_}), TakeStatistics(sums, builder));
    builder.FinishGradient(moving_mean());
    builder.FinishGradient(moving_variance());
  }

  Operation TakeStatistics(Tensor* sums, ProgramBuilder& builder) {
    return [=, layer = &layer_, channels = channels_, line = line_,
            total = total_rows_, means = builder.variable(moving_mean()),
            variances = builder.variable(moving_variance()),
            mean_differences = builder.gradient(moving_mean()),
            variance_differences =
                builder.gradient(moving_variance())](const Step& step) {
      const double* const sum = sums->doubles();
      const double rows = sum[0];
      *total->doubles() = rows;
      const double rate =
          step.batch.regularization_scale * (1 - layer->momentum);
      for (int64_t c = 0; c < channels; ++c) {
        const double mean = sum[1 + c] / rows;
        const double variance =
            std::max(sum[1 + channels + c] / rows - mean * mean, 0.0);
        line.Set(c, mean, variance);
        mean_differences->floats()[c] =
            static_cast<float>(rate * (mean - double{means->floats()[c]}));
        variance_differences->floats()[c] = static_cast<float>(
            rate * (variance - double{variances->floats()[c]}));
      }
    };
  }

  void AddMovingStatistics(ProgramBuilder& builder) {
    builder.Add(line_.used({}),
                [line = line_, channels = channels_,
                 means = builder.variable(moving_mean()),
                 variances = builder.variable(moving_variance())](const Step&) {
                  for (int64_t c = 0; c < line.channels; ++c) {
                    line.Set(c, double{means->floats()[c]},
                             double{variances->floats()[c]});
                  }
                });
  }

  Tensor* AddNormalization(ProgramBuilder& builder) {
    Tensor* const output =
        is_read_as_factors_
            ? builder.NewTensor(input_->shape, builder.factor_type())
            : builder.NewTensor(input_->shape);
    builder.AddParallel(
        line_.used({input_, output}), rows_, channels_,
        [line = line_, input = input_, output](int64_t begin, int64_t end) {
          NormalizeChannels(line.lines(), begin, end, ReadFrom(input),
                            WriteTo(output));
        });
    return output;
  }

  // With x̂ the normalized input, the gradients of beta and gamma are Σ g and
  // Σ g·x̂; with those and the N rows of all replicas,
  //   share = Σ g / N,  slope = Σ g·x̂ / N / √(variance + epsilon).
  void AddVariableGradients(Tensor* gradient, ProgramBuilder& builder) {
    const int64_t channels = channels_;
    Tensor* const sums = AddSums(
        line_.used({gradient, input_}),
        [line = line_, input = input_, gradient](
            int64_t begin, int64_t end, double* first, double* second) {
          ChannelProducts(line.lines(), begin, end, ReadFrom(input),
                          ReadFrom(gradient), first, second);
        },
        builder);
    Tensor* const of_gamma = layer_.scale ? builder.gradient(gamma()) : nullptr;
    Tensor* const of_beta = layer_.center ? builder.gradient(beta()) : nullptr;
    builder.Add(line_.used({sums}), [=, factors = line_.factors](const Step&) {
      double* const sum = sums->doubles();
      double* const products = sum + channels;
      for (int64_t c = 0; c < channels; ++c) {
        products[c] *= double{factors->floats()[c]};
        if (of_beta != nullptr) {
          of_beta->floats()[c] = static_cast<float>(sum[c]);
        }
        if (of_gamma != nullptr) {
          of_gamma->floats()[c] = static_cast<float>(products[c]);
        }
      }
    });
    if (layer_.scale) builder.FinishGradient(gamma());
    if (layer_.center) builder.FinishGradient(beta());
    // The other replicas wait for the sums in any case.
    AddReplicaSum(sums, builder);
    builder.Add(line_.used({sums, total_rows_, shares_, slopes_}),
                [=, factors = line_.factors, total = total_rows_,
                 shares = shares_, slopes = slopes_](const Step&) {
                  const double rows = *total->doubles();
                  for (int64_t c = 0; c < channels; ++c) {
                    shares->floats()[c] =
                        static_cast<float>(sums->doubles()[c] / rows);
                    slopes->floats()[c] =
                        static_cast<float>(sums->doubles()[channels + c] /
                                           rows * double{factors->floats()[c]});
                  }
                });
  }

  Tensor* AddInputGradient(OutputGradient output, ProgramBuilder& builder) {
    Tensor* const gradient = output.tensor;
    Tensor* const input_gradient =
        output.is_shared || gradient->type != input_->type
            ? builder.NewTensor(input_->shape, input_->type)
            : gradient;
    builder.NoteOverwriting(input_gradient);
    builder.AddParallel(
        line_.used({gradient, input_, shares_, slopes_, input_gradient}), rows_,
        channels_,
        [line = line_, input = input_, shares = shares_, slopes = slopes_,
         gradient, input_gradient](int64_t begin, int64_t end) {
          NormalizeChannelsBackward(
              line.lines(), shares->floats(), slopes->floats(), begin, end,
              ReadFrom(input), ReadFrom(gradient), input_gradient->data());
        });
    return input_gradient;
  }

  const BatchNormalization& layer_;
  const Node& node_;
  const bool is_read_as_factors_;
  int64_t rows_ = 0;
  int64_t channels_ = 0;
  int64_t parts_ = 0;
  Tensor* input_ = nullptr;
  ChannelTensors line_;
  // How many rows the statistics are of.
  Tensor* total_rows_ = nullptr;
  // Of each channel, for the backward.
  Tensor* shares_ = nullptr;
  Tensor* slopes_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeComputation> MakeBatchNormalization(const Graph& graph,
                                                        const Node& node) {
  return std::make_unique<BatchNormalizationComputation>(
      static_cast<const BatchNormalization&>(*node.layer), node,
      ClampBehind(graph, node), IsReadAsFactors(graph, node));
}

}  // namespace paceline::cpu
