#include "common/operations/batch_moments.h"

#include <algorithm>
#include <cstdint>

#include "worker/device/cpu/kernels/batch_normalization.h"
#include "worker/device/cpu/operations/channel_sums.h"
#include "worker/device/cpu/operations/operations.h"
#include "worker/device/cpu/stored_tensor.h"

namespace paceline::cpu {
namespace {

// N, Σ x and Σ x² of the replica's rows.
Tensor* AddMomentSums(const Tensor* x, ProgramBuilder& builder) {
  const int64_t channels = x->shape.back();
  // Values are summed as differences to the first row, which lie closer to each
  // other than to 0.
  Tensor* const shifts = builder.NewTensor<float>({channels});
  builder.Add({x, shifts}, [=](const Step&) {
    WithTyped(ReadFrom(x), [&](const auto* values) {
      for (int64_t c = 0; c < channels; ++c) {
        shifts->floats()[c] = Load(values[c]);
      }
    });
  });
  Tensor* const shifted = AddChannelSums(
      x, {shifts},
      [=](int64_t begin, int64_t end, double* sums, double* squares) {
        ChannelMoments(channels, begin, end, ReadFrom(x), shifts->floats(),
                       sums, squares);
      },
      builder);
  Tensor* const sums = builder.NewTensor<double>({1 + 2 * channels});
  builder.Add(
      {shifted, shifts, sums}, [=, rows = x->count() / channels](const Step&) {
        const auto count = static_cast<double>(rows);
        sums->doubles()[0] = count;
        for (int64_t c = 0; c < channels; ++c) {
          const double shift = double{shifts->floats()[c]};
          const double sum = shifted->doubles()[c];
          sums->doubles()[1 + c] = sum + count * shift;
          sums->doubles()[1 + channels + c] = shifted->doubles()[channels + c] +
                                              shift * (2 * sum + count * shift);
        }
      });
  return sums;
}

}  // namespace

Tensor* AddBatchMoments(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& moments =
      static_cast<const op::BatchMomentsOperation&>(call.operation);
  const int64_t channels = call.inputs[0]->shape.back();
  Tensor* const sums = AddMomentSums(call.inputs[0], builder);
  if (moments.over_replicas()) builder.AddReplicaSum(sums);
  Tensor* const count = OutputOf(call, builder);
  Tensor* const means = call.more_outputs[0];
  Tensor* const variances = call.more_outputs[1];
  builder.Add({sums, count, means, variances}, [=](const Step&) {
    const double* const sum = sums->doubles();
    const double rows = sum[0];
    *count->doubles() = rows;
    for (int64_t c = 0; c < channels; ++c) {
      const double mean = sum[1 + c] / rows;
      means->doubles()[c] = mean;
      variances->doubles()[c] =
          std::max(sum[1 + channels + c] / rows - mean * mean, 0.0);
    }
  });
  return count;
}

}  // namespace paceline::cpu
