#include "common/operations/batch_moments.h"

#include <cstdint>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {
namespace {

// The rows of a batch, which are summed in parts.
struct BatchRows {
  const Tensor* x = nullptr;
  int64_t channels = 0;
  int64_t count = 0;
  int64_t parts = 1;
};

BatchRows BatchRowsOf(const Tensor* x) {
  const int64_t channels = x->shape.back();
  const int64_t count = x->count() / channels;
  return {x, channels, count, FirstPartCount(count, channels)};
}

const Tensor* AddValueSums(const BatchRows& rows, ProgramBuilder& builder) {
  Tensor* const part_sums =
      builder.NewTensor<double>({rows.parts, rows.channels});
  builder.AddKernel({rows.x, part_sums}, rows.parts * rows.channels, [=] {
    return ColumnSums<ConstValues, double>{rows.count, rows.channels,
                                           rows.parts, ValuesOf(rows.x),
                                           part_sums->doubles()};
  });
  return builder.AddSumOfParts({part_sums});
}

const Tensor* AddDeviationSums(const BatchRows& rows, const Tensor* value_sums,
                               ProgramBuilder& builder) {
  Tensor* const part_sums =
      builder.NewTensor<double>({rows.parts, rows.channels});
  builder.AddKernel(
      {rows.x, value_sums, part_sums}, rows.parts * rows.channels, [=] {
        return DeviationSums{
            rows.count,       rows.channels,         rows.parts,
            ValuesOf(rows.x), value_sums->doubles(), part_sums->doubles()};
      });
  return builder.AddSumOfParts({part_sums});
}

}  // namespace

Tensor* AddBatchMoments(const PlacedCall& call, ProgramBuilder& builder) {
  const BatchRows rows = BatchRowsOf(call.inputs[0]);
  const Tensor* const values = AddValueSums(rows, builder);
  const Tensor* const deviations = AddDeviationSums(rows, values, builder);
  Tensor* const moments = builder.NewTensor<double>({1 + 2 * rows.channels});
  builder.AddKernel({values, deviations, moments}, rows.channels, [=] {
    return ChannelMoments{rows.count, rows.channels, values->doubles(),
                          deviations->doubles(), moments->doubles()};
  });
  if (static_cast<const op::BatchMomentsOperation&>(call.operation)
          .over_replicas()) {
    builder.AddMomentsAllReduce(moments);
  }
  Tensor* const count = OutputOf(call, builder);
  Tensor* const means = call.more_outputs[0];
  Tensor* const variances = call.more_outputs[1];
  builder.AddKernel({moments, count, means, variances}, rows.channels, [=] {
    return TakeMoments{rows.channels, moments->doubles(), count->doubles(),
                       means->doubles(), variances->doubles()};
  });
  return count;
}

}  // namespace paceline::cuda
