// Iterates over the positions of a window on a batch of images.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_WINDOWS_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_WINDOWS_H_

#include <cstdint>

#include "common/operations/window_axis.h"
#include "common/tensor/shape.h"

namespace paceline::reference {

// An input and an output pixel that a window connects. Pixels are numbered
// through the batch: (example · height + y) · width + x.
struct WindowPair {
  int64_t output_pixel;
  int64_t input_pixel;
  // Position in the window: ky · width of the window + kx.
  int64_t element;
};

// Calls `visit` for each output pixel and each input pixel of its window that
// is inside the image, ordered by output pixel, then by position in the window.
// `input` and `output` are (batch, height, width, channels).
template <typename Visit>
void ForEachWindowPair(const op::Window2D& window, const Shape& input,
                       const Shape& output, Visit visit) {
  const auto& [vertical, horizontal] = window;
  const auto input_of = [](const op::WindowAxis& axis, int64_t o, int64_t k) {
    return o * axis.stride - axis.pad_before + k * axis.dilation;
  };
  for (int64_t example = 0; example < output[0]; ++example) {
    for (int64_t oy = 0; oy < output[1]; ++oy) {
      for (int64_t ox = 0; ox < output[2]; ++ox) {
        for (int64_t ky = 0; ky < vertical.size; ++ky) {
          const int64_t iy = input_of(vertical, oy, ky);
          if (iy < 0 || iy >= input[1]) continue;
          for (int64_t kx = 0; kx < horizontal.size; ++kx) {
            const int64_t ix = input_of(horizontal, ox, kx);
            if (ix < 0 || ix >= input[2]) continue;
            visit(WindowPair{(example * output[1] + oy) * output[2] + ox,
                             (example * input[1] + iy) * input[2] + ix,
                             ky * horizontal.size + kx});
          }
        }
      }
    }
  }
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_WINDOWS_H_
