#include "common/model/layers/conv2d.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace paceline {

const FieldTable<Conv2D>& Conv2D::Fields() {
  static const auto& table = *new FieldTable<Conv2D>(
      kClassName, "Convolution of images.",
      ConvolutionFields<Conv2D>(
          {Required("filters", &Conv2D::filters, AtLeast(1),
                    "Channels of the output.")},
          {Optional("groups", &Conv2D::groups, AtLeast(1),
                    "Groups of channels that are convolved apart.")},
          {{"kernel", "the kernel", &Conv2D::kernel_initializer,
            &Conv2D::kernel_regularizer}}));
  return table;
}

absl::StatusOr<Shape> Conv2D::OutputShape(
    absl::Span<const Shape> inputs) const {
  ASSIGN_OR_RETURN(Shape output, ConvolvedShape(inputs[0], filters));
  const int64_t channels = inputs[0].back();
  if (filters % groups != 0 || channels % groups != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("groups ", groups, " must divide the ", channels,
                     " channels of the input and the ", filters, " filters"));
  }
  return output;
}

std::vector<VariableSpec> Conv2D::Variables(
    absl::Span<const Shape> inputs) const {
  std::vector<VariableSpec> variables = {
      {"kernel",
       {kernel_size[0], kernel_size[1], inputs[0].back() / groups, filters},
       kernel_initializer,
       kernel_regularizer}};
  AddBias(filters, variables);
  return variables;
}

LoweredLayer Conv2D::Lower(const LayerCall& call) const {
  return WithBias(Convolved(call.inputs[0], call.variables[0], groups),
                  call.variables);
}

}  // namespace paceline
