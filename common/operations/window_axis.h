// The positions of a convolution's or pooling's window along an axis.
#ifndef PACELINE_COMMON_OPERATIONS_WINDOW_AXIS_H_
#define PACELINE_COMMON_OPERATIONS_WINDOW_AXIS_H_

#include <array>
#include <cstdint>

#include "common/tensor/shape.h"

namespace paceline::op {

// Output element o reads the input elements o · stride − pad_before + k ·
// dilation for k in [0, size), except those outside of the input.
struct WindowAxis {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  // Negative if the last window ends before the input does.
  int64_t pad_after = 0;

  // Number of output elements. CHECK-fails if the window does not fit.
  int64_t OutputSize(int64_t input) const;
};

// Along height and width of images (batch, height, width, channels).
using Window2D = std::array<WindowAxis, 2>;

// The shape of `input` after the window, with `channels`.
Shape WindowOutputShape(const Window2D& window, const Shape& input,
                        int64_t channels);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_WINDOW_AXIS_H_
