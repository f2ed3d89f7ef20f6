#include "common/operations/window_axis.h"

#include "glog/logging.h"

namespace paceline::op {

int64_t WindowAxis::OutputSize(int64_t input) const {
  const int64_t reach = (size - 1) * dilation + 1;
  const int64_t padded = input + pad_before + pad_after;
  CHECK_GE(padded, reach) << "a window of " << reach << " over " << padded;
  return (padded - reach) / stride + 1;
}

Shape WindowOutputShape(const Window2D& window, const Shape& input,
                        int64_t channels) {
  CHECK_EQ(input.size(), 4u) << ShapeToString(input);
  return {input[0], window[0].OutputSize(input[1]),
          window[1].OutputSize(input[2]), channels};
}

}  // namespace paceline::op
