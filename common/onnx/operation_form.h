// What an operation is in ONNX. Each file in common/onnx/operations has the
// forms of a family of operations.
#ifndef PACELINE_COMMON_ONNX_OPERATION_FORM_H_
#define PACELINE_COMMON_ONNX_OPERATION_FORM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/onnx/onnx_graph.h"
#include "common/onnx/symbolic_shape.h"
#include "common/operations/function.h"

namespace paceline {

// A call that is translated. References outlive the translation.
struct TranslatedCall {
  const FunctionPair& function;
  // Calls of the pair's functions, for operations with functions in them.
  const op::Call& call;
  const op::Call& second_call;
  // The names of the call's inputs.
  const std::vector<std::string>& inputs;
  OnnxGraph& graph;

  template <typename O>
  const O& operation() const {
    return static_cast<const O&>(*call.operation);
  }
  DataType input_type(size_t input) const {
    return function.first.type(call.inputs[input]).type;
  }
  SymbolicShape input_shape(size_t input) const {
    return function.ShapeOf(call.inputs[input]);
  }
  DataType output_type(size_t output = 0) const {
    return function.first.type(call.outputs[output]).type;
  }
  SymbolicShape output_shape(size_t output = 0) const {
    return function.ShapeOf(call.outputs[output]);
  }
};

// The names of the call's outputs; fewer if the further ones are only for
// gradients.
using TranslatedOutputs = absl::StatusOr<std::vector<std::string>>;

struct OperationForm {
  // Operation::name. A string_view of it would be no constant under the
  // sanitizers.
  const char* operation;
  // Appends the nodes. Unimplemented says what of this call ONNX does not have;
  // ResourceExhausted is that of ReserveConstants.
  TranslatedOutputs (*translate)(const TranslatedCall& call);
};

absl::Span<const OperationForm> ElementwiseForms();
absl::Span<const OperationForm> ImageForms();
absl::Span<const OperationForm> LayoutForms();
absl::Span<const OperationForm> NormalizationForms();
absl::Span<const OperationForm> RowForms();
absl::Span<const OperationForm> ScanForms();

}  // namespace paceline

#endif  // PACELINE_COMMON_ONNX_OPERATION_FORM_H_
