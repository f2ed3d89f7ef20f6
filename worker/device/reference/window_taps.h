// How a window slides over a batch of images.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_WINDOW_TAPS_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_WINDOW_TAPS_H_

#include <array>
#include <cstdint>

#include "common/model/window.h"
#include "common/tensor/shape.h"

namespace paceline::reference {

// A pair of pixels that a window connects. Pixels count through the batch:
// (example · height + y) · width + x.
struct Tap {
  int64_t output_pixel;
  int64_t input_pixel;
  // Place in the window: ky · width of the window + kx.
  int64_t window_element;
};

// Calls `visit` for each output pixel and each input pixel of its window that
// is inside the image. `input` and `output` have shape (batch, height, width,
// channels).
template <typename Visit>
void ForEachTap(const std::array<Window, 2>& windows, const Shape& input,
                const Shape& output, Visit visit) {
  const auto& [vertical, horizontal] = windows;
  const int64_t top = ExtentOf(vertical, input[1]).pad_before;
  const int64_t left = ExtentOf(horizontal, input[2]).pad_before;
  for (int64_t example = 0; example < output[0]; ++example) {
    for (int64_t oy = 0; oy < output[1]; ++oy) {
      for (int64_t ox = 0; ox < output[2]; ++ox) {
        for (int64_t ky = 0; ky < vertical.size; ++ky) {
          const int64_t iy =
              oy * vertical.stride - top + ky * vertical.dilation;
          if (iy < 0 || iy >= input[1]) continue;
          for (int64_t kx = 0; kx < horizontal.size; ++kx) {
            const int64_t ix =
                ox * horizontal.stride - left + kx * horizontal.dilation;
            if (ix < 0 || ix >= input[2]) continue;
            visit(Tap{(example * output[1] + oy) * output[2] + ox,
                      (example * input[1] + iy) * input[2] + ix,
                      ky * horizontal.size + kx});
          }
        }
      }
    }
  }
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_WINDOW_TAPS_H_
