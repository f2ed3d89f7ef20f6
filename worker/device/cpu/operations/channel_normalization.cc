#include "common/operations/channel_normalization.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "glog/logging.h"
#include "worker/device/cpu/kernels/batch_normalization.h"
#include "worker/device/cpu/operations/channel_sums.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/cpu/stored_tensor.h"

namespace paceline::cpu {
namespace {

using ChannelOptions = op::ChannelNormalizationOptions;

const ChannelOptions& ChannelOptionsOf(const PlacedCall& call) {
  return static_cast<const op::ChannelOperation&>(call.operation).options();
}

// An element of a float32 or float64 tensor.
double NumberAt(const Tensor* tensor, int64_t i) {
  return tensor->type == DataType::kFloat64 ? tensor->doubles()[i]
                                            : double{tensor->floats()[i]};
}

Tensor* AddZeros(int64_t channels, ProgramBuilder& builder) {
  return builder.NewConstant({channels}, std::vector<float>(channels));
}

// The statistics and parameters by which a call normalizes channels.
struct ChannelTensors {
  op::Clamp clamp;
  const Tensor* means = nullptr;
  // 1 / √(variance + epsilon), and the same times gamma.
  const Tensor* factors = nullptr;
  const Tensor* scales = nullptr;
  const Tensor* offsets = nullptr;

  ChannelLines lines() const {
    return {means->count(), means->floats(), scales->floats(),
            offsets->floats(), clamp};
  }
  std::vector<const Tensor*> used(std::vector<const Tensor*> more) const {
    more.insert(more.end(), {means, factors, scales, offsets});
    return more;
  }
};

ChannelTensors AddChannelTensors(const PlacedCall& call,
                                 ProgramBuilder& builder) {
  const ChannelOptions& options = ChannelOptionsOf(call);
  const Tensor* const statistic_means = call.inputs[ChannelOptions::kMean];
  const Tensor* const variances = call.inputs[ChannelOptions::kVariance];
  const int64_t channels = variances->count();
  const Tensor* const gamma =
      options.has_gamma ? call.inputs[ChannelOptions::kGamma] : nullptr;
  Tensor* const means = builder.NewTensor<float>({channels});
  Tensor* const factors = builder.NewTensor<float>({channels});
  Tensor* const scales =
      gamma == nullptr ? factors : builder.NewTensor<float>({channels});
  builder.Add({statistic_means, variances, means, factors, scales},
              [=, epsilon = options.epsilon](const Step&) {
                for (int64_t c = 0; c < channels; ++c) {
                  const double variance = NumberAt(variances, c);
                  const auto factor = static_cast<float>(
                      1 / std::sqrt(std::max(variance, 0.0) + epsilon));
                  means->floats()[c] =
                      static_cast<float>(NumberAt(statistic_means, c));
                  factors->floats()[c] = factor;
                  if (gamma != nullptr) {
                    scales->floats()[c] = factor * gamma->floats()[c];
                  }
                }
              });
  return {.clamp = options.clamp,
          .means = means,
          .factors = factors,
          .scales = scales,
          .offsets = options.has_beta ? call.inputs[options.beta_input()]
                                      : AddZeros(channels, builder)};
}

// Since the statistics depend on the batch, each channel's gradient is reduced
// by share + (x − mean) · slope.
struct StatisticsTerms {
  const Tensor* shares = nullptr;
  const Tensor* slopes = nullptr;
};

StatisticsTerms AddStatisticsTerms(const PlacedCall& call,
                                   const Tensor* factors,
                                   ProgramBuilder& builder) {
  const ChannelOptions& options = ChannelOptionsOf(call);
  const int64_t channels = factors->count();
  if (!options.is_of_batch()) {
    const Tensor* const zeros = AddZeros(channels, builder);
    return {zeros, zeros};
  }
  const int behind_gradient = options.next_input() + 1;
  const Tensor* const count = call.inputs[behind_gradient];
  const Tensor* const sums = call.inputs[behind_gradient + 1];
  const Tensor* const products = call.inputs[behind_gradient + 2];
  Tensor* const shares = builder.NewTensor<float>({channels});
  Tensor* const slopes = builder.NewTensor<float>({channels});
  builder.Add(
      {count, sums, products, factors, shares, slopes}, [=](const Step&) {
        const double rows = *count->doubles();
        for (int64_t c = 0; c < channels; ++c) {
          shares->floats()[c] = static_cast<float>(sums->doubles()[c] / rows);
          slopes->floats()[c] = static_cast<float>(
              products->doubles()[c] / rows * double{factors->floats()[c]});
        }
      });
  return {shares, slopes};
}

}  // namespace

Tensor* AddChannelNormalization(const PlacedCall& call,
                                ProgramBuilder& builder) {
  const Tensor* const x = call.inputs[ChannelOptions::kX];
  const ChannelTensors channels = AddChannelTensors(call, builder);
  Tensor* const y = OutputOf(call, builder);
  const int64_t size = x->shape.back();
  builder.AddParallel(channels.used({x, y}), x->count() / size, size,
                      [=](int64_t begin, int64_t end) {
                        NormalizeChannels(channels.lines(), begin, end,
                                          ReadFrom(x), WriteTo(y));
                      });
  return y;
}

Tensor* AddChannelGradientSums(const PlacedCall& call,
                               ProgramBuilder& builder) {
  const Tensor* const x = call.inputs[ChannelOptions::kX];
  const Tensor* const dy = call.inputs[ChannelOptionsOf(call).next_input()];
  const ChannelTensors channels = AddChannelTensors(call, builder);
  Tensor* const sums = AddChannelSums(
      x, channels.used({dy}),
      [=](int64_t begin, int64_t end, double* first, double* second) {
        ChannelProducts(channels.lines(), begin, end, ReadFrom(x), ReadFrom(dy),
                        first, second);
      },
      builder);
  Tensor* const of_beta = OutputOf(call, builder);
  Tensor* const of_gamma = call.more_outputs[0];
  builder.Add(
      {sums, channels.factors, of_beta, of_gamma},
      [=, count = of_beta->count(), factors = channels.factors](const Step&) {
        for (int64_t c = 0; c < count; ++c) {
          of_beta->doubles()[c] = sums->doubles()[c];
          of_gamma->doubles()[c] =
              sums->doubles()[count + c] * double{factors->floats()[c]};
        }
      });
  return of_beta;
}

Tensor* AddChannelNormalizationGradient(const PlacedCall& call,
                                        ProgramBuilder& builder) {
  const Tensor* const x = call.inputs[ChannelOptions::kX];
  const Tensor* const dy = call.inputs[ChannelOptionsOf(call).next_input()];
  const ChannelTensors channels = AddChannelTensors(call, builder);
  const StatisticsTerms terms =
      AddStatisticsTerms(call, channels.factors, builder);
  Tensor* const dx = InPlaceOutputOf(call, builder);
  CHECK(dx->type == x->type) << "the kernel writes the type that it reads";
  const int64_t size = x->shape.back();
  builder.AddParallel(channels.used({x, dy, terms.shares, terms.slopes, dx}),
                      x->count() / size, size, [=](int64_t begin, int64_t end) {
                        NormalizeChannelsBackward(
                            channels.lines(), terms.shares->floats(),
                            terms.slopes->floats(), begin, end, ReadFrom(x),
                            ReadFrom(dy), dx->data());
                      });
  return dx;
}

}  // namespace paceline::cpu
