#include "common/model/layers/conv2d_transpose.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/model/shape_rule.h"
#include "common/operations/convolution.h"

namespace paceline {

const FieldTable<Conv2DTranspose>& Conv2DTranspose::Fields() {
  using Self = Conv2DTranspose;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Transposed convolution, which enlarges images.",
      ConvolutionFields<Self>(
          {Required("filters", &Self::filters, AtLeast(1),
                    "Channels of the output.")},
          /*groups=*/{},
          {{"kernel", "the kernel", &Self::kernel_initializer,
            &Self::kernel_regularizer, &Self::kernel_constraint}},
          {Optional("output_padding", &Self::output_padding,
                    Between(0, kMaxWindow),
                    "Rows and columns more than the least; null: strides "
                    "times the input's size, at least.")}));
  return table;
}

// Keras' rule.
int64_t Conv2DTranspose::OutputSize(size_t axis, int64_t input) const {
  const int64_t stride = strides[axis];
  const int64_t reach = (kernel_size[axis] - 1) * dilation_rate[axis] + 1;
  if (!output_padding) {
    return padding == Padding::kSame
               ? input * stride
               : (input - 1) * stride + std::max(reach, stride);
  }
  return (input - 1) * stride + (*output_padding)[axis] +
         (padding == Padding::kSame ? reach % 2 : reach);
}

absl::StatusOr<Shape> Conv2DTranspose::OutputShape(
    absl::Span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  RETURN_IF_ERROR(CheckImage(input));
  RETURN_IF_ERROR(CheckWindows());
  Shape output;
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = OutputSize(axis, input[axis]);
    output.push_back(size);
    const bool is_within_stride =
        !output_padding || (*output_padding)[axis] < strides[axis];
    if (is_within_stride && size > 0 &&
        ExtentOf(windows()[axis], size).output == input[axis]) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrFormat(
        "output_padding %d does not fit strides %d and kernel_size %d: no "
        "convolution makes a size of %d of %d",
        output_padding ? (*output_padding)[axis] : 0, strides[axis],
        kernel_size[axis], input[axis], size));
  }
  output.push_back(filters);
  return output;
}

std::vector<VariableSpec> Conv2DTranspose::Variables(
    absl::Span<const Shape> inputs) const {
  std::vector<VariableSpec> variables = {
      {"kernel", KernelShape(filters, inputs[0].back()), kernel_initializer,
       kernel_regularizer, kernel_constraint}};
  AddBias(filters, variables);
  return variables;
}

LoweredLayer Conv2DTranspose::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  const Shape shape = {x.dimension(0), OutputSize(0, x.dimension(1)),
                       OutputSize(1, x.dimension(2)), filters};
  const op::Tensor y = op::ConvolutionInputGradient(
      x, call.variables[0], {.window = WindowOver(windows(), shape)}, shape);
  return WithBias(y, call.variables);
}

}  // namespace paceline
