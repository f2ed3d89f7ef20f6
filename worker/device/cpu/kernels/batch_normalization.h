// Batch normalization over the rows of a matrix in C order, whose columns are
// the channels.
//
// Sums and moments are of a range of rows: threads take different rows, and
// each reads them but once. Rows are added up in float32 a few at a time, and
// what comes of these in float64, so that the number of rows costs no digits.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_BATCH_NORMALIZATION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_BATCH_NORMALIZATION_H_

#include <cstdint>

#include "common/operations/clamp.h"
#include "worker/device/cpu/kernels/stored.h"

namespace paceline::cpu {

// y = (x − mean) · scale + offset for each channel, within the clamp.
struct ChannelLines {
  int64_t channels = 0;
  const float* means = nullptr;
  const float* scales = nullptr;
  const float* offsets = nullptr;
  op::Clamp clamp;
};

// All work on the rows [begin, end).

// Writes the mean and Σ (x − mean)² of each channel, of at least one row.
void ChannelMoments(int64_t channels, int64_t begin, int64_t end,
                    ConstStored values, double* means, double* deviations);

void NormalizeChannels(const ChannelLines& lines, int64_t begin, int64_t end,
                       ConstStored values, Stored outputs);

// With g the gradient by what is clamped: writes Σ g and Σ g·(x − mean).
void ChannelProducts(const ChannelLines& lines, int64_t begin, int64_t end,
                     ConstStored values, ConstStored output_gradients,
                     double* sums, double* products);

// Writes, in the type of the values, dx = scale · (g − share − (x − mean) ·
// slope), with a share and a slope for each channel. May overwrite the output's
// gradients, if they are of one type.
void NormalizeChannelsBackward(const ChannelLines& lines, const float* shares,
                               const float* slopes, int64_t begin, int64_t end,
                               ConstStored values, ConstStored output_gradients,
                               void* input_gradients);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_BATCH_NORMALIZATION_H_
