// How the window of a convolution or a pooling slides along an axis.
#ifndef PACELINE_COMMON_OPERATIONS_WINDOW_AXIS_H_
#define PACELINE_COMMON_OPERATIONS_WINDOW_AXIS_H_

#include <array>
#include <cstdint>

#include "common/tensor/shape.h"

namespace paceline::op {

// Element o of the output reads elements o · stride − pad_before + k · dilation
// of the input, for k in [0, size); those outside of the input are not read.
struct WindowAxis {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  // Below 0 where the last window ends before the input does.
  int64_t pad_after = 0;

  // Elements of the output. CHECK-fails if the window does not fit.
  int64_t OutputSize(int64_t input) const;
};

// Along height and width of images, which are (batch, height, width, channels).
using Window2D = std::array<WindowAxis, 2>;

// `input` with the size that the window gives, and so many channels.
Shape WindowOutputShape(const Window2D& window, const Shape& input,
                        int64_t channels);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_WINDOW_AXIS_H_
