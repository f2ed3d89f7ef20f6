// Sums over the rows of a matrix for each of its columns, the channels.
//
// Rows are added up in float32 a few at a time, and these sums in float64, so
// that the number of rows costs no digits. The order depends on nothing but the
// shape.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_CHANNEL_MOMENTS_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_CHANNEL_MOMENTS_H_

#include <cstdint>

namespace paceline::cpu {

// Channels that are worked on together: no two threads share a cache line.
inline constexpr int64_t kMomentBlock = 16;

// A matrix in C order.
struct ChannelMatrix {
  int64_t rows = 0;
  int64_t channels = 0;
};

// Σ x and Σ (x − Σ x / rows)² of the channels [begin, end).
void ChannelMoments(const ChannelMatrix& matrix, int64_t begin, int64_t end,
                    const float* values, double* sums, double* deviations);

// Σ dy and Σ dy·(x − mean) of the channels [begin, end).
void ChannelProducts(const ChannelMatrix& matrix, int64_t begin, int64_t end,
                     const float* gradients, const float* values,
                     const float* means, double* sums, double* products);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_CHANNEL_MOMENTS_H_
