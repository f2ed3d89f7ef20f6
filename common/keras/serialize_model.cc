#include "common/keras/serialize_model.h"

#include <memory>
#include <utility>

#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/keras/model_config.h"
#include "common/keras/weight_paths.h"
#include "common/model/make_layer.h"
#include "common/model/metric.h"
#include "common/optimizer/make_optimizer.h"

namespace paceline {
namespace {

// With the batch axis, which is null.
Value BatchShape(const Shape& shape) {
  Value::List list = {nullptr};
  for (const int64_t size : shape) list.push_back(size);
  return list;
}

Value FloatPolicy() {
  return SerializeKerasObject("keras",
                              {"DTypePolicy", Value::Map{{"name", "float32"}}});
}

// The output of a node, as an argument of a call.
Value TensorOf(const Node& node) {
  return Value::Map{
      {"class_name", "__keras_tensor__"},
      {"config",
       Value::Map{{"shape", BatchShape(node.output_shape)},
                  {"dtype", "float32"},
                  {"keras_history", Value::List{node.layer->name, 0, 0}}}}};
}

// The calls of a layer: none of an Input, else one.
Value InboundNodes(const Graph& graph, const Node& node) {
  if (node.inputs.empty()) return Value::List{};
  Value::List tensors;
  for (const int input : node.inputs) {
    tensors.push_back(TensorOf(graph.nodes[input]));
  }
  Value::List arguments;
  if (node.layer->is_merge()) {
    arguments.push_back(std::move(tensors));
  } else {
    arguments = std::move(tensors);
  }
  return Value::List{
      Value::Map{{"args", std::move(arguments)}, {"kwargs", Value::Map{}}}};
}

Value SerializeSequential(const v1::Job& job, const Graph& graph) {
  Value::List layers;
  for (const Node& node : graph.nodes) layers.push_back(Serialize(*node.layer));
  const Value shape = BatchShape(graph.input_shape(0));
  Value object = SerializeKerasObject(
      "keras", {"Sequential", Value::Map{{"name", job.model().name()},
                                         {"trainable", true},
                                         {"dtype", FloatPolicy()},
                                         {"layers", std::move(layers)},
                                         {"build_input_shape", shape}}});
  object["build_config"] = Value::Map{{"input_shape", shape}};
  return object;
}

Value SerializeFunctional(const v1::Job& job, const Graph& graph) {
  Value::List layers;
  for (const int index : KerasLayerOrder(graph, /*is_sequential=*/false)) {
    const Node& node = graph.nodes[index];
    Value layer = Serialize(*node.layer);
    layer["name"] = node.layer->name;
    layer["inbound_nodes"] = InboundNodes(graph, node);
    layers.push_back(std::move(layer));
  }
  const auto end = [&graph](int node) {
    return Value::List{graph.nodes[node].layer->name, 0, 0};
  };
  Value object = SerializeKerasObject(
      "keras.src.models.functional",
      {"Functional", Value::Map{{"name", job.model().name()},
                                {"trainable", true},
                                {"layers", std::move(layers)},
                                {"input_layers", end(graph.inputs[0])},
                                {"output_layers", end(graph.outputs[0])}}});
  object["registered_name"] = "Functional";
  object["build_config"] = Value::Map{{"input_shape", nullptr}};
  return object;
}

// Metrics as the job has them: a name stays one.
absl::StatusOr<Value> SerializeMetrics(const v1::Job& job, const Graph& graph,
                                       const Loss& loss) {
  ASSIGN_OR_RETURN(const std::vector<std::unique_ptr<const Metric>> metrics,
                   MakeMetrics(job.metrics(), loss, graph.output_shape(0)));
  Value::List list;
  for (int i = 0; i < job.metrics_size(); ++i) {
    const v1::KerasObject& given = job.metrics(i);
    if (given.config().fields().empty()) {
      list.push_back(given.class_name());
      continue;
    }
    ASSIGN_OR_RETURN(Value metric, Serialize(*metrics[i]));
    list.push_back(std::move(metric));
  }
  return Value(std::move(list));
}

}  // namespace

absl::StatusOr<Value> SerializeModel(const v1::Job& job, const Graph& graph,
                                     const Loss& loss,
                                     const Optimizer& optimizer) {
  Value object = IsSequential(job.model()) ? SerializeSequential(job, graph)
                                           : SerializeFunctional(job, graph);
  ASSIGN_OR_RETURN(Value metrics, SerializeMetrics(job, graph, loss));
  object["compile_config"] = Value::Map{
      {"optimizer", Serialize(optimizer)}, {"loss", Serialize(loss)},
      {"loss_weights", nullptr},           {"metrics", std::move(metrics)},
      {"weighted_metrics", nullptr},       {"run_eagerly", false},
      {"steps_per_execution", 1},          {"jit_compile", false}};
  return object;
}

}  // namespace paceline
