// Bounds of an output, as rectifiers have them.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_CLAMP_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_CLAMP_H_

#include <limits>

#include "common/base/host_device.h"

namespace paceline {

// NaN where there is no bound. The derivative is 0 at them and beyond. NaN
// passes, so that what diverged shows: it compares false.
struct Clamp {
  float floor = std::numeric_limits<float>::quiet_NaN();
  float ceiling = std::numeric_limits<float>::quiet_NaN();
};

PACELINE_HOST_DEVICE inline float Clamped(const Clamp& clamp, float value) {
  const float raised = value < clamp.floor ? clamp.floor : value;
  return raised > clamp.ceiling ? clamp.ceiling : raised;
}

// The gradient by what is clamped to the output.
PACELINE_HOST_DEVICE inline float Unclamped(const Clamp& clamp, float before,
                                            float gradient) {
  return before <= clamp.floor || before >= clamp.ceiling ? 0.0f : gradient;
}

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_CLAMP_H_
