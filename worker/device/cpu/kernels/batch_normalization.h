// Batch normalization of a matrix in C order, whose columns are the channels.
//
// Sums and moments are computed over ranges of rows, one range per thread, in
// one pass. A few rows at a time are summed in float32, and these sums in
// float64, so precision does not depend on the number of rows.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_BATCH_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_BATCH_NORMALIZATION_H_

#include <cstdint>

#include "common/operations/clamp.h"
#include "worker/device/cpu/kernels/stored.h"

namespace paceline::cpu {

// y = (x − mean) · scale + offset per channel, then clamped.
struct ChannelLines {
  int64_t channels = 0;
  const float* means = nullptr;
  const float* scales = nullptr;
  const float* offsets = nullptr;
  op::Clamp clamp;
};

// All functions work on the rows [begin, end).

// Writes the mean and Σ (x − mean)² of each channel; at least one row.
void ChannelMoments(int64_t channels, int64_t begin, int64_t end,
                    ConstStored values, double* means, double* deviations);

void NormalizeChannels(const ChannelLines& lines, int64_t begin, int64_t end,
                       ConstStored values, Stored outputs);

// Let g be the gradient with respect to the value before the clamp. Writes Σ g
// and Σ g·(x − mean).
void ChannelProducts(const ChannelLines& lines, int64_t begin, int64_t end,
                     ConstStored values, ConstStored output_gradients,
                     double* sums, double* products);

// Writes dx = scale · (g − share − (x − mean) · slope), with a share and a
// slope per channel, in the type of the values. May overwrite the output's
// gradients if they have the same type.
void NormalizeChannelsBackward(const ChannelLines& lines, const float* shares,
                               const float* slopes, int64_t begin, int64_t end,
                               ConstStored values, ConstStored output_gradients,
                               void* input_gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_BATCH_NORMALIZATION_H_
