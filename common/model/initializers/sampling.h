// Samples of distributions, one per index of a stream.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_

#include <cstdint>

namespace paceline {

// Uniform in [0, 1), 53 bits.
double UniformSample(uint64_t philox_key, int64_t index);

// Standard normal, by the Box-Muller transform.
double NormalSample(uint64_t philox_key, int64_t index);

// Standard normal, conditioned on |x| <= 2.
double TruncatedNormalSample(uint64_t philox_key, int64_t index);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_
