// Bounds of an output, as rectifiers have them.
#ifndef PACELINE_COMMON_OPERATIONS_CLAMP_H_
#define PACELINE_COMMON_OPERATIONS_CLAMP_H_

#include <limits>

#include "common/base/host_device.h"

namespace paceline::op {

// NaN where there is no bound. The derivative is 0 at them and beyond. NaN
// passes, so that what diverged shows: it compares false.
struct Clamp {
  float floor = std::numeric_limits<float>::quiet_NaN();
  float ceiling = std::numeric_limits<float>::quiet_NaN();
};

template <typename T>
PACELINE_HOST_DEVICE inline T Clamped(const Clamp& clamp, T value) {
  const T raised = value < clamp.floor ? T{clamp.floor} : value;
  return raised > clamp.ceiling ? T{clamp.ceiling} : raised;
}

// The gradient by what is clamped to the output.
template <typename T>
PACELINE_HOST_DEVICE inline T Unclamped(const Clamp& clamp, T before,
                                        T gradient) {
  return before <= clamp.floor || before >= clamp.ceiling ? T{0} : gradient;
}

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_CLAMP_H_
