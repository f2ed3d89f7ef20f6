#include "worker/device/cpu/kernels/im2col.h"

#include <algorithm>

namespace paceline::cpu {
namespace {

// Writes the elements of one image row, from column `begin` on, that one row of
// a window covers. Null for the row: zeros, since it is outside the image.
// Returns the end of the written elements.
float* CopyRow(const Im2ColGeometry& geometry, const float* image_row,
               int64_t begin, float* to) {
  const op::WindowAxis& window = geometry.window[1];
  for (int64_t k = 0; k < window.size; ++k) {
    const int64_t column = begin + k * window.dilation;
    const bool is_inside =
        image_row != nullptr && column >= 0 && column < geometry.width;
    if (is_inside) {
      std::copy_n(image_row + column * geometry.channels, geometry.channels,
                  to);
    } else {
      std::fill_n(to, geometry.channels, 0.0f);
    }
    to += geometry.channels;
  }
  return to;
}

}  // namespace

void Im2Col(const Im2ColGeometry& geometry, int64_t row, const float* images,
            float* matrix) {
  const auto& [window_y, window_x] = geometry.window;
  const int64_t row_size = geometry.width * geometry.channels;
  const float* const image =
      images + row / geometry.rows * geometry.height * row_size;
  const int64_t top =
      row % geometry.rows * window_y.stride - window_y.pad_before;
  for (int64_t column = 0; column < geometry.columns; ++column) {
    const int64_t left = column * window_x.stride - window_x.pad_before;
    for (int64_t k = 0; k < window_y.size; ++k) {
      const int64_t i = top + k * window_y.dilation;
      const bool is_inside = i >= 0 && i < geometry.height;
      matrix = CopyRow(geometry, is_inside ? image + i * row_size : nullptr,
                       left, matrix);
    }
  }
}

}  // namespace paceline::cpu
