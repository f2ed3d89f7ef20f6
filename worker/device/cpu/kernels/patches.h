// What the positions of a window read of an image, side by side.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_PATCHES_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_PATCHES_H_

#include <array>
#include <cstdint>

#include "common/model/window.h"

namespace paceline::cpu {

// Of images (height, width, channels). A patch is (window height, window width,
// channels), with zeros beyond the image.
struct PatchGeometry {
  PatchGeometry(const std::array<Window, 2>& windows, int64_t height,
                int64_t width, int64_t channels);

  int64_t patch_size() const {
    return windows[0].size * windows[1].size * channels;
  }

  std::array<Window, 2> windows;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  // In rows and columns of positions.
  WindowExtent y;
  WindowExtent x;
};

// Writes the patches of a row of positions: row `row` of all rows of a batch.
void GatherPatches(const PatchGeometry& geometry, int64_t row,
                   const float* images, float* patches);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_PATCHES_H_
