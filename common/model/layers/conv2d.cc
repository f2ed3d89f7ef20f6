#include "common/model/layers/conv2d.h"

#include "absl/status/status.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"

namespace paceline {

const FieldTable<Conv2D>& Conv2D::Fields() {
  static const auto& table = *new FieldTable<Conv2D>(
      kClassName, "Convolution of images.",
      LayerFields<Conv2D>(
          {Required("filters", &Conv2D::filters, AtLeast(1),
                    "Channels of the output."),
           Required("kernel_size", &Conv2D::kernel_size, Between(1, kMaxWindow),
                    "Height and width of the kernel."),
           Optional("strides", &Conv2D::strides, Between(1, kMaxWindow),
                    "Steps along height and width."),
           Optional("padding", &Conv2D::padding, "What is around the image."),
           Only("data_format", "channels_last", "Layout of images."),
           Optional("dilation_rate", &Conv2D::dilation_rate,
                    Between(1, kMaxWindow), "Distance of kernel elements."),
           Only("groups", 1, "Groups of channels."),
           Optional("activation", &Conv2D::activation,
                    "Activation of the output."),
           Optional("use_bias", &Conv2D::use_bias, "Whether a bias is added."),
           Optional("kernel_initializer", &Conv2D::kernel_initializer,
                    "First values of the kernel."),
           Optional("bias_initializer", &Conv2D::bias_initializer,
                    "First values of the bias."),
           Optional("kernel_regularizer", &Conv2D::kernel_regularizer,
                    "Penalty on the kernel."),
           Optional("bias_regularizer", &Conv2D::bias_regularizer,
                    "Penalty on the bias."),
           Only("activity_regularizer", nullptr, "Penalty on the output."),
           Only("kernel_constraint", nullptr, "Bounds of the kernel."),
           Only("bias_constraint", nullptr, "Bounds of the bias.")}));
  return table;
}

std::array<Window, 2> Conv2D::windows() const {
  std::array<Window, 2> windows;
  for (size_t axis = 0; axis < windows.size(); ++axis) {
    windows[axis] = {.size = kernel_size[axis],
                     .stride = strides[axis],
                     .dilation = dilation_rate[axis],
                     .padding = padding};
  }
  return windows;
}

absl::StatusOr<Shape> Conv2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  for (const int64_t stride : strides) {
    for (const int64_t dilation : dilation_rate) {
      if (stride > 1 && dilation > 1) {
        return absl::InvalidArgumentError(
            "strides above 1 and a dilation_rate above 1 exclude each other");
      }
    }
  }
  ASSIGN_OR_RETURN(const auto size, WindowOutput(windows(), inputs[0]));
  return Shape{size[0], size[1], filters};
}

std::vector<VariableSpec> Conv2D::Variables(
    absl::Span<const Shape> inputs) const {
  const int64_t channels = inputs[0].back();
  std::vector<VariableSpec> variables = {
      {"kernel",
       {kernel_size[0], kernel_size[1], channels, filters},
       kernel_initializer,
       kernel_regularizer}};
  if (use_bias) {
    variables.push_back(
        {"bias", {filters}, bias_initializer, bias_regularizer});
  }
  return variables;
}

}  // namespace paceline
