// Every operation, in each form that devices compute in another way.
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
  // Operation::name, after rewrites.
  std::string operation;
  // For test names: letters, digits, underscores.
  std::string form;
  // Of real inputs, which are in (-1, 1).
  std::vector<Shape> inputs;
  // Of inputs of float32 or float64: what the operation makes of them, of any
  // type.
  std::function<op::Tensor(absl::Span<const op::Tensor>)> make;
  // Devices that refuse it: "cpu", "cuda".
  std::vector<std::string> lacked_by = {};

  std::string name() const { return operation + "_" + form; }
};

inline void PrintTo(const OperationForm& each, std::ostream* stream) {
  *stream << each.name();
}

const std::vector<OperationForm>& OperationForms();

// Tensors of any types, of the real `type`, one behind the other: (1, count).
op::Tensor InARow(absl::Span<const op::Tensor> tensors, DataType type);

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_OPERATION_FORMS_H_
