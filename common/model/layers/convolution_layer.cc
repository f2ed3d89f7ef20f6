#include "common/model/layers/convolution_layer.h"

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/operations/binary_map.h"
#include "common/operations/convolution.h"
#include "common/operations/reshape.h"

namespace paceline {

template <size_t rank>
std::array<Window, rank> ConvolutionLayer<rank>::windows() const {
  std::array<Window, rank> windows;
  for (size_t axis = 0; axis < rank; ++axis) {
    windows[axis] = {.size = kernel_size[axis],
                     .stride = strides[axis],
                     .dilation = dilation_rate[axis],
                     .padding = static_cast<Padding>(padding)};
  }
  return windows;
}

template <size_t rank>
absl::Status ConvolutionLayer<rank>::CheckWindows() const {
  for (const int64_t stride : strides) {
    for (const int64_t dilation : dilation_rate) {
      if (stride > 1 && dilation > 1) {
        return absl::InvalidArgumentError(
            "strides above 1 and a dilation_rate above 1 exclude each other");
      }
    }
  }
  return absl::OkStatus();
}

template <size_t rank>
absl::StatusOr<Shape> ConvolutionLayer<rank>::ConvolvedShape(
    const Shape& input, int64_t filters) const {
  RETURN_IF_ERROR(CheckWindows());
  ASSIGN_OR_RETURN(Shape output, WindowOutput(windows(), input));
  output.push_back(filters);
  return output;
}

template <size_t rank>
Shape ConvolutionLayer<rank>::KernelShape(int64_t channels,
                                          int64_t filters) const {
  Shape shape(kernel_size.begin(), kernel_size.end());
  shape.push_back(channels);
  shape.push_back(filters);
  return shape;
}

template <size_t rank>
void ConvolutionLayer<rank>::AddBias(
    int64_t filters, std::vector<VariableSpec>& variables) const {
  if (!use_bias) return;
  variables.push_back(
      {"bias", {filters}, bias_initializer, bias_regularizer, bias_constraint});
}

template <size_t rank>
op::Tensor ConvolutionLayer<rank>::Convolved(const op::Tensor& input,
                                             const op::Tensor& kernel,
                                             int64_t groups) const {
  const op::Tensor images = ToImages<rank>(input);
  const op::Tensor image_kernel =
      op::Reshape(kernel, ImageKernelShape(kernel.shape()));
  return FromImages<rank>(op::Convolution(
      images, image_kernel, {WindowOver(windows(), images.shape()), groups}));
}

template <size_t rank>
op::Tensor ConvolutionLayer<rank>::DepthwiseConvolved(
    const op::Tensor& input, const op::Tensor& kernel) const {
  const int64_t channels = input.dimension(-1);
  // The kernel of a convolution with as many groups as channels.
  const Shape grouped = KernelShape(1, channels * kernel.dimension(-1));
  return Convolved(input, op::Reshape(kernel, grouped), channels);
}

template <size_t rank>
op::Tensor ConvolutionLayer<rank>::WithBias(
    const op::Tensor& output, absl::Span<const op::Tensor> variables) const {
  return use_bias ? output + variables.back() : output;
}

template class ConvolutionLayer<1>;
template class ConvolutionLayer<2>;

}  // namespace paceline
