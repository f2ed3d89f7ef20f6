// im2col: copies the patch of the image under each position of a window into a
// row of a matrix, so that a convolution becomes a matrix product.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_IM2COL_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_IM2COL_H_

#include <cstdint>

#include "common/operations/window_axis.h"

namespace paceline::cpu {

// For images (height, width, channels). A patch is (window height, window
// width, channels), with zeros outside the image.
struct Im2ColGeometry {
  int64_t patch_size() const {
    return window[0].size * window[1].size * channels;
  }

  op::Window2D window;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  // Rows and columns of window positions.
  int64_t rows = window[0].OutputSize(height);
  int64_t columns = window[1].OutputSize(width);
};

// Writes the patches of one row of positions, (columns, patch_size()). `row`
// counts through all rows of the batch.
void Im2Col(const Im2ColGeometry& geometry, int64_t row, const float* images,
            float* matrix);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_IM2COL_H_
