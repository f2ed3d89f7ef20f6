// Every operation, in each form that devices implement differently.
#ifndef PACELINE_TESTS_CONFORMANCE_OPERATION_FORMS_H_
#define PACELINE_TESTS_CONFORMANCE_OPERATION_FORMS_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/tensor/shape.h"

namespace paceline {

struct OperationForm {
  // Operation::name after rewrites.
  std::string operation;
  // For test names: letters, digits, underscores.
  std::string form;
  // Shapes of floating-point inputs, whose elements are in (-1, 1).
  std::vector<Shape> inputs;
  // Applies the operation to float32 or float64 inputs; the result may have any
  // type.
  std::function<op::Tensor(absl::Span<const op::Tensor>)> make;
  // Devices that do not support it: "cpu", "cuda".
  std::vector<std::string> lacked_by = {};

  std::string name() const { return operation + "_" + form; }
};

inline void PrintTo(const OperationForm& each, std::ostream* stream) {
  *stream << each.name();
}

const std::vector<OperationForm>& OperationForms();

// Converts tensors of any types to the floating-point `type` and concatenates
// them: (1, count).
op::Tensor InARow(absl::Span<const op::Tensor> tensors, DataType type);

// The gradients of Σ weights · y with respect to the inputs, in a row.
op::Tensor GradientsOf(const op::Tensor& y,
                       absl::Span<const op::Tensor> inputs);

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_OPERATION_FORMS_H_
