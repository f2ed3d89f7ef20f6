#include "common/model/layers/convolution_layer.h"

#include "absl/status/status.h"
#include "common/base/status_macros.h"

namespace paceline {

std::array<Window, 2> ConvolutionLayer::windows() const {
  std::array<Window, 2> windows;
  for (size_t axis = 0; axis < windows.size(); ++axis) {
    windows[axis] = {.size = kernel_size[axis],
                     .stride = strides[axis],
                     .dilation = dilation_rate[axis],
                     .padding = padding};
  }
  return windows;
}

absl::StatusOr<Shape> ConvolutionLayer::ConvolvedShape(const Shape& input,
                                                       int64_t filters) const {
  for (const int64_t stride : strides) {
    for (const int64_t dilation : dilation_rate) {
      if (stride > 1 && dilation > 1) {
        return absl::InvalidArgumentError(
            "strides above 1 and a dilation_rate above 1 exclude each other");
      }
    }
  }
  ASSIGN_OR_RETURN(const auto size, WindowOutput(windows(), input));
  return Shape{size[0], size[1], filters};
}

void ConvolutionLayer::AddBias(int64_t filters,
                               std::vector<VariableSpec>& variables) const {
  if (!use_bias) return;
  variables.push_back({"bias", {filters}, bias_initializer, bias_regularizer});
}

}  // namespace paceline
