#include "common/operations/batch_moments.h"

#include <algorithm>
#include <cstdint>

#include "common/base/merge_moments.h"
#include "worker/device/cpu/kernels/batch_normalization.h"
#include "worker/device/cpu/operations/channel_sums.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/cpu/stored_tensor.h"

namespace paceline::cpu {
namespace {

// The moments of this replica's rows, in the format of
// StatisticsAllReduce::MergeMoments.
Tensor* AddReplicaMoments(const Tensor* x, ProgramBuilder& builder) {
  const RowParts parts(x);
  const int64_t channels = parts.channels;
  Tensor* const of_parts = AddPartResults(
      x, {},
      [=](int64_t begin, int64_t end, double* means, double* deviations) {
        ChannelMoments(channels, begin, end, ReadFrom(x), means, deviations);
      },
      builder);
  Tensor* const moments = builder.NewTensor<double>({1 + 2 * channels});
  builder.Add({of_parts, moments}, [=](const Step&) {
    double* const means = moments->doubles() + 1;
    std::fill_n(means, 2 * channels, 0.0);
    ColumnMoments merged = {0, means, means + channels};
    for (int64_t part = 0; part < parts.count; ++part) {
      const double* const of_part = of_parts->doubles() + part * 2 * channels;
      const auto rows =
          static_cast<double>(parts.end(part) - parts.begin(part));
      MergeMoments({rows, of_part, of_part + channels}, channels, merged);
    }
    moments->doubles()[0] = merged.rows;
  });
  return moments;
}

}  // namespace

Tensor* AddBatchMoments(const PlacedCall& call, ProgramBuilder& builder) {
  const int64_t channels = call.inputs[0]->shape.back();
  Tensor* const moments = AddReplicaMoments(call.inputs[0], builder);
  if (static_cast<const op::BatchMomentsOperation&>(call.operation)
          .over_replicas()) {
    builder.AddMomentsAllReduce(moments);
  }
  Tensor* const count = OutputOf(call, builder);
  Tensor* const means = call.more_outputs[0];
  Tensor* const variances = call.more_outputs[1];
  builder.Add({moments, count, means, variances}, [=](const Step&) {
    const double rows = moments->doubles()[0];
    const double* const mean = moments->doubles() + 1;
    const double* const deviation = mean + channels;
    *count->doubles() = rows;
    for (int64_t c = 0; c < channels; ++c) {
      means->doubles()[c] = mean[c];
      variances->doubles()[c] = deviation[c] / rows;
    }
  });
  return count;
}

}  // namespace paceline::cpu
