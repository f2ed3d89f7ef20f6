// Functions of each element.
#include "common/onnx/operation_form.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/map.h"
#include "common/operations/select.h"
#include "common/operations/stop_gradient.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// exp(x) − 1 as tanh(x / 2) · (exp(x) + 1), which keeps the digits of a small
// x.
std::string Expm1(const TranslatedCall& call) {
  const std::string& x = call.inputs[0];
  const DataType type = call.input_type(0);
  OnnxGraph& graph = call.graph;
  const std::string half = graph.Add("Mul", {x, graph.Number(type, 0.5)});
  const std::string exp = graph.Add("Exp", {x});
  return graph.Add("Mul", {graph.Add("Tanh", {half}),
                           graph.Add("Add", {exp, graph.Number(type, 1)})});
}

std::string Erfc(const TranslatedCall& call) {
  const std::string one = call.graph.Number(call.input_type(0), 1);
  return call.graph.Add("Sub", {one, call.graph.Add("Erf", call.inputs)});
}

TranslatedOutputs TranslateMap(const TranslatedCall& call) {
  const op::MapFunction function =
      call.operation<op::MapOperation>().function();
  switch (function) {
    case op::MapFunction::kExpm1:
      return {{Expm1(call)}};
    case op::MapFunction::kLog1p:
      // Log(x + 1) would lose a small x. Only losses need it.
      return absl::UnimplementedError("Log1p has no form in ONNX");
    case op::MapFunction::kErfc:
      return {{Erfc(call)}};
    default:
      // ONNX has our names for all others.
      return {{call.graph.Add(op::MapFunctionName(function), call.inputs)}};
  }
}

absl::string_view BinaryTypeOf(op::BinaryFunction function) {
  switch (function) {
    case op::BinaryFunction::kAdd:
      return "Add";
    case op::BinaryFunction::kSubtract:
      return "Sub";
    case op::BinaryFunction::kMultiply:
      return "Mul";
    case op::BinaryFunction::kDivide:
      return "Div";
    case op::BinaryFunction::kPower:
      return "Pow";
    case op::BinaryFunction::kMaximum:
      return "Max";
    case op::BinaryFunction::kMinimum:
      return "Min";
  }
  LOG(FATAL) << static_cast<int>(function);
}

TranslatedOutputs TranslateBinaryMap(const TranslatedCall& call) {
  return {{call.graph.Add(
      BinaryTypeOf(call.operation<op::BinaryMapOperation>().function()),
      call.inputs)}};
}

absl::string_view ComparisonTypeOf(op::Comparison comparison) {
  switch (comparison) {
    case op::Comparison::kLess:
      return "Less";
    case op::Comparison::kLessEqual:
      return "LessOrEqual";
    case op::Comparison::kEqual:
      return "Equal";
  }
  LOG(FATAL) << static_cast<int>(comparison);
}

TranslatedOutputs TranslateCompare(const TranslatedCall& call) {
  return {{call.graph.Add(
      ComparisonTypeOf(call.operation<op::CompareOperation>().comparison()),
      call.inputs)}};
}

TranslatedOutputs TranslateSelect(const TranslatedCall& call) {
  if (call.output_type() != DataType::kBool) {
    return {{call.graph.Add("Where", call.inputs)}};
  }
  // onnxruntime has no Where of bools.
  const std::string& condition = call.inputs[0];
  const std::string a = call.graph.Add("And", {condition, call.inputs[1]});
  const std::string is_not = call.graph.Add("Not", {condition});
  const std::string b = call.graph.Add("And", {is_not, call.inputs[2]});
  return {{call.graph.Add("Or", {a, b})}};
}

TranslatedOutputs TranslateCast(const TranslatedCall& call) {
  return {
      {call.graph.Add("Cast", call.inputs,
                      {IntAttribute("to", OnnxTypeOf(call.output_type()))})}};
}

TranslatedOutputs TranslateStopGradient(const TranslatedCall& call) {
  return {{call.inputs[0]}};
}

constexpr OperationForm kElementwiseForms[] = {
    {op::MapOperation::kName, TranslateMap},
    {op::BinaryMapOperation::kName, TranslateBinaryMap},
    {op::CompareOperation::kName, TranslateCompare},
    {op::SelectOperation::kName, TranslateSelect},
    {op::CastOperation::kName, TranslateCast},
    {op::StopGradientOperation::kName, TranslateStopGradient}};

}  // namespace

absl::Span<const OperationForm> ElementwiseForms() { return kElementwiseForms; }

}  // namespace paceline
