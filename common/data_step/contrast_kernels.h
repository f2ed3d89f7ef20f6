// The loops of a change of contrast.
#ifndef PACELINE_COMMON_DATA_STEP_CONTRAST_KERNELS_H_
#define PACELINE_COMMON_DATA_STEP_CONTRAST_KERNELS_H_

#include <cstdint>

namespace paceline {

// Numbers that are taken at once. A number of channels that divides it, such as
// 1, 3 or 4, repeats in it.
inline constexpr int64_t kContrastLanes = 24;

// Adds in[i] to sums[i % kContrastLanes], for `count` numbers, a multiple of
// that.
void AddToLanes(const float* in, int64_t count, double* sums);

// out[i] = (in[i] - m) * contrast + m within [low, high], where m is
// means[i % kContrastLanes], for `count` numbers.
void AdjustContrast(const float* in, int64_t count, const float* means,
                    float contrast, float low, float high, float* out);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_CONTRAST_KERNELS_H_
