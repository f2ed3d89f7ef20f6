#include "common/operations/channel_normalization.h"

#include <cstdint>
#include <vector>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {
namespace {

using ChannelOptions = op::ChannelNormalizationOptions;

const ChannelOptions& ChannelOptionsOf(const PlacedCall& call) {
  return static_cast<const op::ChannelOperation&>(call.operation).options();
}

ChannelRows RowsOf(const Tensor* x) {
  const int64_t channels = x->shape.back();
  return {x->count() / channels, channels};
}

// A ChannelLine per channel, computed once by a layer.
const Tensor* AddLines(const PlacedCall& call, ProgramBuilder& builder) {
  const ChannelOptions& options = ChannelOptionsOf(call);
  const Tensor* const means = call.inputs[ChannelOptions::kMean];
  const Tensor* const variances = call.inputs[ChannelOptions::kVariance];
  const Tensor* const gamma =
      options.has_gamma ? call.inputs[ChannelOptions::kGamma] : nullptr;
  const Tensor* const beta =
      options.has_beta ? call.inputs[options.beta_input()] : nullptr;
  const Tensor*& lines_of_layer = builder.ChannelLines(means);
  if (lines_of_layer != nullptr) return lines_of_layer;
  Tensor* const lines = builder.NewTensor<ChannelLine>(means->shape);
  lines_of_layer = lines;
  const auto maker = [=, epsilon = options.epsilon]<typename T>(T /*zero*/) {
    return MakeChannelLines<T>{
        epsilon,
        means->as<T>(),
        variances->as<T>(),
        FloatsOrNull(gamma),
        FloatsOrNull(beta),
        lines->as<ChannelLine>(),
    };
  };
  builder.AddKernel({means, variances, lines}, means->count(),
                    [=, is_of_batch = options.is_of_batch()]() -> Kernel {
                      if (is_of_batch) return maker(double{0});
                      return maker(float{0});
                    });
  return lines;
}

// Adds the computation of a ChannelSlope per channel. Null if the statistics do
// not depend on the batch.
const Tensor* AddSlopes(const PlacedCall& call, const Tensor* lines,
                        ProgramBuilder& builder) {
  const ChannelOptions& options = ChannelOptionsOf(call);
  if (!options.is_of_batch()) return nullptr;
  const int behind_gradient = options.next_input() + 1;
  const Tensor* const count = call.inputs[behind_gradient];
  const Tensor* const sums = call.inputs[behind_gradient + 1];
  const Tensor* const products = call.inputs[behind_gradient + 2];
  Tensor* const slopes = builder.NewTensor<ChannelSlope>(sums->shape);
  builder.AddKernel({count, sums, products, lines, slopes}, sums->count(), [=] {
    return ChannelSlopes{count->doubles(), sums->doubles(), products->doubles(),
                         lines->as<ChannelLine>(), slopes->as<ChannelSlope>()};
  });
  return slopes;
}

}  // namespace

Tensor* AddChannelNormalization(const PlacedCall& call,
                                ProgramBuilder& builder) {
  const Tensor* const x = call.inputs[ChannelOptions::kX];
  const Tensor* const lines = AddLines(call, builder);
  Tensor* const y = OutputOf(call, builder);
  const ChannelRows rows = RowsOf(x);
  builder.AddKernel({x, lines, y}, rows.index_count(),
                    [=, clamp = ChannelOptionsOf(call).clamp] {
                      return Normalize{rows, clamp, lines->as<ChannelLine>(),
                                       ValuesOf(x), ValuesOf(y)};
                    });
  return y;
}

Tensor* AddChannelGradientSums(const PlacedCall& call,
                               ProgramBuilder& builder) {
  const ChannelOptions& options = ChannelOptionsOf(call);
  const Tensor* const x = call.inputs[ChannelOptions::kX];
  const Tensor* const dy = call.inputs[options.next_input()];
  const Tensor* const lines = AddLines(call, builder);
  const int64_t channels = x->shape.back();
  const int64_t rows = x->count() / channels;
  const int64_t fours = FourBlocks(channels);
  const int64_t parts = FirstPartCount(rows, channels);
  Tensor* const part_sums = builder.NewTensor<double>({parts, 2, channels});
  builder.AddKernel({x, dy, lines, part_sums}, parts * fours,
                    [=, clamp = options.clamp] {
                      return NormalizeGradientSums{rows,
                                                   channels,
                                                   parts,
                                                   clamp,
                                                   lines->as<ChannelLine>(),
                                                   ValuesOf(x),
                                                   ValuesOf(dy),
                                                   part_sums->doubles()};
                    });
  Tensor* const of_beta = OutputOf(call, builder);
  Tensor* const of_gamma = call.more_outputs[0];
  const PartSums sums = builder.AddPasses({part_sums});
  builder.AddKernel({sums.tensor, of_beta, of_gamma}, channels, [=] {
    return SumGradientParts{channels, sums.parts(), sums.tensor->doubles(),
                            of_beta->doubles(), of_gamma->doubles()};
  });
  return of_beta;
}

Tensor* AddChannelNormalizationGradient(const PlacedCall& call,
                                        ProgramBuilder& builder) {
  const ChannelOptions& options = ChannelOptionsOf(call);
  const Tensor* const x = call.inputs[ChannelOptions::kX];
  const Tensor* const dy = call.inputs[options.next_input()];
  const Tensor* const lines = AddLines(call, builder);
  const Tensor* const slopes = AddSlopes(call, lines, builder);
  Tensor* const dx = InPlaceOutputOf(call, builder);
  std::vector<const Tensor*> used = {x, lines, dy, dx};
  if (slopes != nullptr) used.push_back(slopes);
  const ChannelRows rows = RowsOf(x);
  builder.AddKernel(used, rows.index_count(), [=, clamp = options.clamp] {
    return NormalizeBackward{
        rows,
        clamp,
        lines->as<ChannelLine>(),
        slopes == nullptr ? nullptr : slopes->as<ChannelSlope>(),
        ValuesOf(x),
        ValuesOf(dy),
        ValuesOf(dx)};
  });
  return dx;
}

}  // namespace paceline::cuda
