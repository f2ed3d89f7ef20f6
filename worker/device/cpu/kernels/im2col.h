// im2col: what the positions of a window read of an image, as the rows of a
// matrix.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_IM2COL_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_IM2COL_H_

#include <cstdint>

#include "common/operations/window_axis.h"

namespace paceline::cpu {

// Of images (height, width, channels). A patch is (window height, window width,
// channels), with zeros beyond the image.
struct Im2ColGeometry {
  int64_t patch_size() const {
    return window[0].size * window[1].size * channels;
  }

  op::Window2D window;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  // Of positions.
  int64_t rows = window[0].OutputSize(height);
  int64_t columns = window[1].OutputSize(width);
};

// Writes the patches of a row of positions, (columns, patch_size()): row `row`
// of all rows of a batch.
void Im2Col(const Im2ColGeometry& geometry, int64_t row, const float* images,
            float* matrix);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_IM2COL_H_
