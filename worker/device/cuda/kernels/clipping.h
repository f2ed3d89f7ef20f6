// Clipping of gradients by their norms, as defined in
// common/optimizer/clipping.h.
#ifndef PACELINE_WORKER_DEVICE_CUDA_KERNELS_CLIPPING_H_
#define PACELINE_WORKER_DEVICE_CUDA_KERNELS_CLIPPING_H_

#include <cmath>
#include <cstdint>

#include "common/base/host_device.h"
#include "worker/device/cuda/kernels/loops.h"

namespace paceline::cuda {

// sums[part] = Σ g² over the elements part, part + parts, … For each part.
struct SquareSums {
  int64_t count = 0;
  int64_t parts = 1;
  const float* gradients = nullptr;
  double* sums = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t part) const {
    double sum = 0;
    ForEachLoaded(
        part, count, parts, [&](int64_t i) { return gradients[i]; },
        [&](int64_t, float loaded) {
          const double g = loaded;
          sum += g * g;
        });
    sums[part] = sum;
  }
};

// The norm, given the sums of squares by part.
PACELINE_HOST_DEVICE inline double NormOf(const double* sums, int64_t parts) {
  double sum = 0;
  for (int64_t part = 0; part < parts; ++part) sum += sums[part];
  return std::sqrt(sum);
}

// *factor = bound / max(sqrt(Σ sums), bound). For one index.
struct ClipFactor {
  double bound = 0;
  int64_t parts = 0;
  const double* sums = nullptr;
  float* factor = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t /*i*/) const {
    const double norm = NormOf(sums, parts);
    *factor = static_cast<float>(bound / (norm < bound ? bound : norm));
  }
};

// x *= *factor. For each element.
struct ScaleElements {
  const float* factor = nullptr;
  float* x = nullptr;

  PACELINE_HOST_DEVICE void operator()(int64_t i) const { x[i] *= *factor; }
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_KERNELS_CLIPPING_H_
