// Loops over sequences, which ONNX has as we do: Scan.
#include "common/operations/scan.h"

#include <cstddef>

#include "common/base/status_macros.h"
#include "common/onnx/operation_form.h"
#include "common/onnx/translate_function.h"

namespace paceline {
namespace {

// The body's graph. Its inputs are the carries and an element of each sequence;
// it reads the constants in the graph around it.
absl::StatusOr<onnx::GraphProto> TranslateBody(const TranslatedCall& call) {
  const op::ScanBody& body = call.operation<op::ScanOperation>().body();
  const FunctionPair function = {
      *body.function,
      *static_cast<const op::ScanOperation&>(*call.second_call.operation)
           .body()
           .function};
  onnx::GraphProto proto;
  OnnxGraph graph(proto, call.graph);
  proto.set_name(graph.UniqueName("body"));
  const std::vector<int>& parameters = body.function->parameters();
  const size_t input_count = parameters.size() - body.constant_count();
  ValueNames names;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string& name = names[parameters[i]];
    if (i >= input_count) {
      name = call.inputs[i];
      continue;
    }
    name = graph.UniqueName("element");
    *proto.add_input() =
        ValueInfo(name, function.first.type(parameters[i]).type,
                  function.ShapeOf(parameters[i]));
  }
  const std::vector<int>& results = body.function->results();
  RETURN_IF_ERROR(TranslateFunction(function, results, graph, names));
  for (const int result : results) {
    // Outputs must have different names, also where they are the same.
    const std::string name = graph.Add("Identity", {names.at(result)});
    *proto.add_output() = ValueInfo(name, function.first.type(result).type,
                                    function.ShapeOf(result));
  }
  return proto;
}

onnx::AttributeProto Backwards(absl::string_view name, int count) {
  return IntsAttribute(name, std::vector<int64_t>(count, 1));
}

TranslatedOutputs TranslateScan(const TranslatedCall& call) {
  const auto& operation = call.operation<op::ScanOperation>();
  const op::ScanBody& body = operation.body();
  ASSIGN_OR_RETURN(onnx::GraphProto proto, TranslateBody(call));
  std::vector<std::string> outputs;
  for (size_t i = 0; i < call.call.outputs.size(); ++i) {
    outputs.push_back(call.graph.UniqueName(call.graph.NodeName("Scan")));
  }
  onnx::NodeProto& node = call.graph.AddNode(
      "Scan",
      absl::MakeSpan(call.inputs).first(body.carry_count + body.sequence_count),
      outputs);
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  *attribute.mutable_g() = std::move(proto);
  *node.add_attribute() = IntAttribute("num_scan_inputs", body.sequence_count);
  if (operation.is_reversed()) {
    *node.add_attribute() =
        Backwards("scan_input_directions", body.sequence_count);
    // The checker refuses an empty list.
    if (body.output_count() > 0) {
      *node.add_attribute() =
          Backwards("scan_output_directions", body.output_count());
    }
  }
  return outputs;
}

constexpr OperationForm kScanForms[] = {
    {op::ScanOperation::kName, TranslateScan}};

}  // namespace

absl::Span<const OperationForm> ScanForms() { return kScanForms; }

}  // namespace paceline
