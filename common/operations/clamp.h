// Bounds of an output, such as those of rectifiers.
#ifndef PACELINE_COMMON_OPERATIONS_CLAMP_H_
#define PACELINE_COMMON_OPERATIONS_CLAMP_H_

#include <limits>

#include "common/base/host_device.h"

namespace paceline::op {

// NaN means no bound. The derivative is 0 at a bound and beyond. A NaN input
// stays NaN, so that divergence is visible: comparisons with it are false.
struct Clamp {
  float floor = std::numeric_limits<float>::quiet_NaN();
  float ceiling = std::numeric_limits<float>::quiet_NaN();
};

template <typename T>
PACELINE_HOST_DEVICE inline T Clamped(const Clamp& clamp, T value) {
  const T raised = value < clamp.floor ? T{clamp.floor} : value;
  return raised > clamp.ceiling ? T{clamp.ceiling} : raised;
}

// The gradient with respect to the value `before` the clamp.
template <typename T>
PACELINE_HOST_DEVICE inline T Unclamped(const Clamp& clamp, T before,
                                        T gradient) {
  return before <= clamp.floor || before >= clamp.ceiling ? T{0} : gradient;
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CLAMP_H_
