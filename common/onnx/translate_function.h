// Translates functions of operations into nodes of ONNX, call by call.
#ifndef PACELINE_COMMON_ONNX_TRANSLATE_FUNCTION_H_
#define PACELINE_COMMON_ONNX_TRANSLATE_FUNCTION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/onnx/onnx_graph.h"
#include "common/onnx/symbolic_shape.h"

namespace paceline {

// The names of values, by tensor of the function.
using ValueNames = std::map<int, std::string>;

// Appends the nodes that `results` need, tensors of the function, and adds
// their values to `names`, which must have those of the function's parameters.
// Unimplemented, with the layer and the operation, if a call has no form in
// ONNX.
absl::Status TranslateFunction(const FunctionPair& function,
                               absl::Span<const int> results, OnnxGraph& graph,
                               ValueNames& names);

}  // namespace paceline

#endif  // PACELINE_COMMON_ONNX_TRANSLATE_FUNCTION_H_
