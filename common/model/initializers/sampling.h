// Samples of distributions, one for each index of a stream.
#ifndef PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_
#define PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_

#include <cstdint>

namespace paceline {

// Uniform in [0, 1), 53 bits.
double UniformSample(uint64_t philox_key, int64_t index);

// Standard normal, by Box and Muller's transform.
double NormalSample(uint64_t philox_key, int64_t index);

// Standard normal under the condition |x| <= 2.
double TruncatedNormalSample(uint64_t philox_key, int64_t index);

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_INITIALIZERS_SAMPLING_H_
