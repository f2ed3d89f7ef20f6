#include "common/onnx/onnx_model.h"

#include <cstddef>
#include <memory>

#include "common/base/status_macros.h"
#include "common/model/model_function.h"
#include "common/onnx/onnx_graph.h"
#include "common/onnx/symbolic_shape.h"
#include "common/onnx/translate_function.h"

namespace paceline {
namespace {

std::unique_ptr<const ModelFunction> Lowered(const Graph& graph,
                                             int64_t batch_size) {
  return MakeModelFunction({.graph = &graph, .batch_size = batch_size});
}

std::vector<int> IdsOf(absl::Span<const op::Tensor> tensors) {
  std::vector<int> ids;
  for (const op::Tensor& tensor : tensors) ids.push_back(tensor.id());
  return ids;
}

}  // namespace

absl::StatusOr<OnnxModel> MakeOnnxModel(const Graph& graph) {
  const std::unique_ptr<const ModelFunction> first =
      Lowered(graph, kFirstBatch);
  const std::unique_ptr<const ModelFunction> second =
      Lowered(graph, kSecondBatch);
  const FunctionPair function = {first->function, second->function};
  OnnxModel model;
  model.proto.set_ir_version(kOnnxIrVersion);
  model.proto.set_producer_name("paceline");
  model.proto.set_producer_version(PACELINE_VERSION);
  model.proto.add_opset_import()->set_version(kOnnxOpset);
  onnx::GraphProto& proto = *model.proto.mutable_graph();
  proto.set_name(graph.tree.name.empty() ? "model" : graph.tree.name);
  OnnxGraph nodes(proto);

  ValueNames names;
  const std::vector<int> inputs = IdsOf(first->features);
  for (size_t i = 0; i < inputs.size(); ++i) {
    names[inputs[i]] =
        nodes.UniqueName(graph.nodes[graph.inputs[i]].layer->name);
    *proto.add_input() = ValueInfo(names[inputs[i]], DataType::kFloat32,
                                   function.ShapeOf(inputs[i]));
  }
  nodes.SetBatchOf(names[inputs[0]]);
  const std::vector<int> outputs = IdsOf(first->outputs);
  std::vector<std::string> output_names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    output_names.push_back(nodes.UniqueName(graph.output_name(i)));
    *proto.add_output() = ValueInfo(output_names[i], DataType::kFloat32,
                                    function.ShapeOf(outputs[i]));
  }
  const std::vector<int> variables = IdsOf(first->variables);
  for (size_t i = 0; i < variables.size(); ++i) {
    names[variables[i]] = nodes.UniqueName(graph.variables[i].name);
    nodes.AddVariable(names[variables[i]],
                      {static_cast<int>(i), graph.variables[i].shape, {}});
  }

  RETURN_IF_ERROR(TranslateFunction(function, outputs, nodes, names));
  for (size_t i = 0; i < outputs.size(); ++i) {
    nodes.AddNode("Identity", {names.at(outputs[i])}, {output_names[i]});
  }
  model.variables = nodes.ReadVariables();
  return model;
}

}  // namespace paceline
