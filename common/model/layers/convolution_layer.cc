#include "common/model/layers/convolution_layer.h"

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/operations/binary_map.h"
#include "common/operations/convolution.h"
#include "common/operations/reshape.h"

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

op::Tensor ConvolutionLayer::Convolved(const op::Tensor& images,
                                       const op::Tensor& kernel,
                                       int64_t groups) const {
  return op::Convolution(images, kernel,
                         {WindowOver(windows(), images.shape()), groups});
}

op::Tensor ConvolutionLayer::DepthwiseConvolved(
    const op::Tensor& images, const op::Tensor& kernel) const {
  const int64_t channels = images.dimension(-1);
  // The kernel of a convolution with as many groups as channels.
  const Shape grouped = {kernel.dimension(0), kernel.dimension(1), 1,
                         channels * kernel.dimension(3)};
  return Convolved(images, op::Reshape(kernel, grouped), channels);
}

op::Tensor ConvolutionLayer::WithBias(
    const op::Tensor& images, absl::Span<const op::Tensor> variables) const {
  return use_bias ? images + variables.back() : images;
}

}  // namespace paceline
