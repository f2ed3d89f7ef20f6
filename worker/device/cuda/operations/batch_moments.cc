#include "common/operations/batch_moments.h"

#include <cstdint>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {

Tensor* AddBatchMoments(const PlacedCall& call, ProgramBuilder& builder) {
  const Tensor* const x = call.inputs[0];
  const int64_t channels = x->shape.back();
  const int64_t rows = x->count() / channels;
  const int64_t fours = FourBlocks(channels);
  const int64_t parts = FirstPartCount(rows, channels);
  Tensor* const part_sums = builder.NewTensor<double>({parts, 2, channels});
  builder.AddKernel({x, part_sums}, parts * fours, [=] {
    return ShiftedSums{rows, channels, parts, ValuesOf(x),
                       part_sums->doubles()};
  });
  const PartSums sums = builder.AddPasses({part_sums});
  const auto moments_of_channels = [=] {
    return ChannelMoments{rows, channels, sums.parts(), ValuesOf(x),
                          sums.tensor->doubles()};
  };
  Tensor* const count = OutputOf(call, builder);
  Tensor* const means = call.more_outputs[0];
  Tensor* const variances = call.more_outputs[1];
  if (!static_cast<const op::BatchMomentsOperation&>(call.operation)
           .over_replicas()) {
    builder.AddKernel({x, sums.tensor, count, means, variances}, channels, [=] {
      return WriteStatistics{moments_of_channels(), count->doubles(),
                             means->doubles(), variances->doubles()};
    });
    return count;
  }
  Tensor* const moments = builder.NewTensor<double>({1 + 2 * channels});
  builder.AddKernel({x, sums.tensor, moments}, channels, [=] {
    return WriteMoments{moments_of_channels(), moments->doubles()};
  });
  builder.AddMomentsAllReduce(moments);
  builder.AddKernel({moments, count, means, variances}, channels, [=] {
    return TakeMoments{channels, moments->doubles(), count->doubles(),
                       means->doubles(), variances->doubles()};
  });
  return count;
}

}  // namespace paceline::cuda
