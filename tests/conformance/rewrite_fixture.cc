#include "tests/conformance/rewrite_fixture.h"

#include <optional>

#include "common/operations/gradient.h"
#include "worker/device/reference/array.h"
#include "worker/device/reference/evaluate.h"

namespace paceline {

std::vector<std::string> NamesOf(const op::Function& function) {
  std::vector<std::string> names;
  for (const op::Call& call : function.calls()) {
    names.emplace_back(call.operation->name());
  }
  return names;
}

WithGradients::WithGradients(const OperationCase& each) {
  for (const Shape& shape : each.inputs) {
    parameters.push_back(function.AddParameter({DataType::kFloat32, shape}));
  }
  output = each.make(parameters);
  output_gradient = function.AddParameter(output.type());
  function.AddResult(output);
  for (const std::optional<op::Tensor>& gradient :
       op::AddGradients({output}, {output_gradient}, parameters)) {
    if (gradient) function.AddResult(*gradient);
  }
}

std::vector<std::vector<double>> ResultsOf(const op::Function& function,
                                           const OperationCase& each) {
  std::vector<reference::Array> arguments;
  std::vector<std::vector<double>> inputs = SomeInputs(each);
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back(
        RealArray(DataType::kFloat32, each.inputs[i], inputs[i]));
  }
  if (arguments.size() < function.parameters().size()) {
    const op::TensorType& type = function.type(function.parameters().back());
    std::vector<double> weights(NumElements(type.shape));
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5 + 0.1 * i;
    arguments.push_back(RealArray(type.type, type.shape, weights));
  }
  std::vector<const reference::Array*> pointers;
  for (const reference::Array& argument : arguments) {
    pointers.push_back(&argument);
  }
  std::vector<std::vector<double>> results;
  for (const reference::Array& result :
       reference::Evaluate(function, pointers, {})) {
    results.push_back(ValuesOf(result));
  }
  return results;
}

}  // namespace paceline
