// Keras' clipping of probabilities.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_CLIP_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_CLIP_H_

#include <algorithm>

namespace paceline::reference {

// Into [1e-7, 1 - 1e-7].
template <typename T>
T ClipProbability(T p) {
  return std::clamp(p, T(1e-7), T(1) - T(1e-7));
}

// Its derivative.
template <typename T>
T ClipDerivative(T p) {
  return p == ClipProbability(p) ? T{1} : T{0};
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_CLIP_H_
