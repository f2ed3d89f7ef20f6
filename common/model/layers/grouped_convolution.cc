#include "common/model/layers/grouped_convolution.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline {

template <size_t rank>
absl::StatusOr<Shape> GroupedConvolution<rank>::OutputShape(
    absl::Span<const Shape> inputs) const {
  ASSIGN_OR_RETURN(Shape output, this->ConvolvedShape(inputs[0], filters));
  const int64_t channels = inputs[0].back();
  if (filters % groups != 0 || channels % groups != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("groups ", groups, " must divide the ", channels,
                     " channels of the input and the ", filters, " filters"));
  }
  return output;
}

template <size_t rank>
std::vector<VariableSpec> GroupedConvolution<rank>::Variables(
    absl::Span<const Shape> inputs) const {
  std::vector<VariableSpec> variables = {
      {"kernel", this->KernelShape(inputs[0].back() / groups, filters),
       kernel_initializer, kernel_regularizer, kernel_constraint}};
  this->AddBias(filters, variables);
  return variables;
}

template <size_t rank>
LoweredLayer GroupedConvolution<rank>::Lower(const LayerCall& call) const {
  return this->WithBias(
      this->Convolved(call.inputs[0], call.variables[0], groups),
      call.variables);
}

template class GroupedConvolution<1>;
template class GroupedConvolution<2>;

}  // namespace paceline
