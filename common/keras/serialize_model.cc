#include "common/keras/serialize_model.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/keras/config_keys.h"
#include "common/keras/weight_paths.h"
#include "common/model/keras_operator.h"
#include "common/model/loss.h"
#include "common/model/make_layer.h"
#include "common/model/metric.h"
#include "common/model/model_tree.h"
#include "common/model/objective.h"
#include "common/optimizer/make_optimizer.h"

namespace paceline {
namespace {

// With the batch axis, which is null.
Value BatchShape(const Shape& shape) {
  Value::List list = {nullptr};
  for (const int64_t size : shape) list.push_back(size);
  return list;
}

Value SerializeTree(const ModelTree& model, const Graph& graph);

Value SerializeChild(const ModelTree::Child& child, const Graph& graph) {
  if (child.model != nullptr) return SerializeTree(*child.model, graph);
  if (const std::optional<KerasOperator> operation = OperatorOf(child)) {
    Value object = SerializeKerasObject(
        "keras.src.ops.numpy",
        {operation->class_name, Value::Map{{"name", child.name}}});
    object["registered_name"] = operation->class_name;
    return object;
  }
  Value object = Serialize(*child.layer);
  Value& config = object["config"];
  for (const std::string& key : child.layer->call_keywords()) {
    std::erase_if(config.as_map(),
                  [&](const Value::Entry& entry) { return entry.key == key; });
  }
  config["name"] = child.name;
  return object;
}

// The keyword arguments of a call.
Value::Map KeywordsOf(const ModelTree::Child& call) {
  Value::Map keywords;
  // With a keyword, any, Keras records no mask for the call.
  if (call.is_unmasked && !OperatorOf(call)) {
    keywords.push_back({"training", nullptr});
  }
  if (call.layer == nullptr) return keywords;
  const std::vector<std::string> keys = call.layer->call_keywords();
  if (keys.empty()) return keywords;
  const Value object = Serialize(*call.layer);
  for (const std::string& key : keys) {
    if (const Value* const value = object.Find("config")->Find(key)) {
      keywords.push_back({key, *value});
    }
  }
  return keywords;
}

// An output as Keras names it: the layer, the number of the call, and that of
// the call's output.
Value HistoryOf(const ModelTree& model, const ModelTree::Source& source,
                int first_call) {
  const auto& [index, output] = source;
  const int callee = model.children[index].callee;
  if (callee < 0) {
    return Value::List{model.children[index].name, first_call, output};
  }
  const auto calls = std::count_if(model.children.begin(),
                                   model.children.begin() + source.child,
                                   [callee](const ModelTree::Child& child) {
                                     return child.callee == callee;
                                   });
  return Value::List{model.children[callee].name, first_call + 1 + calls,
                     output};
}

// An output of a call, as an argument of another.
Value TensorOf(const ModelTree& model, const ModelTree::Source& source,
               const Graph& graph) {
  const Shape& shape = graph.nodes[model.NodeOf(source)].output_shape;
  return Value::Map{
      {"class_name", "__keras_tensor__"},
      {"config", Value::Map{{"shape", BatchShape(shape)},
                            {"dtype", "float32"},
                            {"keras_history", HistoryOf(model, source, 0)}}}};
}

// Takes the last arguments of a call as those of these keywords.
void MoveToKeywords(const std::vector<std::string>& keys, Value::List& tensors,
                    Value::Map& keywords) {
  const size_t first = tensors.size() - keys.size();
  for (size_t i = 0; i < keys.size(); ++i) {
    keywords.push_back({keys[i], std::move(tensors[first + i])});
  }
  tensors.resize(first);
}

Value SerializeCall(const ModelTree& model, const ModelTree::Child& call,
                    const Graph& graph) {
  Value::List tensors;
  for (const ModelTree::Source& input : call.inputs) {
    tensors.push_back(TensorOf(model, input, graph));
  }
  const Layer* const layer = call.layer;
  Value::Map keywords = KeywordsOf(call);
  if (layer != nullptr)
    MoveToKeywords(layer->keyword_inputs(), tensors, keywords);
  Value::List arguments;
  if (const std::optional<KerasOperator> operation = OperatorOf(call)) {
    arguments = std::move(tensors);
    if (operation->number) {
      arguments.insert(
          operation->number_is_left ? arguments.begin() : arguments.end(),
          *operation->number);
    }
  } else if (tensors.size() > 1 && (layer == nullptr || layer->is_merge())) {
    arguments.push_back(std::move(tensors));
  } else {
    arguments = std::move(tensors);
  }
  return Value::Map{{"args", std::move(arguments)},
                    {"kwargs", std::move(keywords)}};
}

// The calls of a layer; none of an Input.
Value InboundNodes(const ModelTree& model, int index, const Graph& graph) {
  Value::List calls;
  for (int i = index; i < static_cast<int>(model.children.size()); ++i) {
    const ModelTree::Child& child = model.children[i];
    if ((i == index || child.callee == index) && !child.inputs.empty()) {
      calls.push_back(SerializeCall(model, child, graph));
    }
  }
  return calls;
}

Value SerializeSequential(const ModelTree& model, const Graph& graph) {
  Value::List layers;
  for (const ModelTree::Child& child : model.children) {
    layers.push_back(SerializeChild(child, graph));
  }
  const Value shape = BatchShape(graph.nodes[model.NodeOf({0})].output_shape);
  Value object = SerializeKerasObject(
      "keras", {"Sequential", Value::Map{{"name", model.name},
                                         {"trainable", model.trainable},
                                         {"dtype", "float32"},
                                         {"layers", std::move(layers)},
                                         {"build_input_shape", shape}}});
  object["build_config"] = Value::Map{{"input_shape", shape}};
  return object;
}

// An entry of input_layers or output_layers. Keras counts the calls of a
// Functional in it from 1, since the first was its making.
Value EndOf(const ModelTree& model, const ModelTree::Source& source) {
  const ModelTree::Child& child = model.children[source.child];
  const bool is_functional =
      child.model != nullptr && !child.model->is_sequential;
  return HistoryOf(model, source, is_functional ? 1 : 0);
}

// Keras writes a list only if there are several.
Value EndsOf(Value::List ends) {
  return ends.size() == 1 ? std::move(ends[0]) : Value(std::move(ends));
}

Value SerializeFunctional(const ModelTree& model, const Graph& graph) {
  Value::List layers;
  for (const int index : KerasLayerOrder(model)) {
    const ModelTree::Child& child = model.children[index];
    Value layer = SerializeChild(child, graph);
    layer["name"] = child.name;
    layer["inbound_nodes"] = InboundNodes(model, index, graph);
    layers.push_back(std::move(layer));
  }
  Value::List inputs;
  for (size_t i = 0; i < model.children.size(); ++i) {
    if (!model.children[i].inputs.empty()) continue;
    inputs.push_back(EndOf(model, {static_cast<int>(i)}));
  }
  Value::List outputs;
  for (const ModelTree::Source& output : model.outputs) {
    outputs.push_back(EndOf(model, output));
  }
  Value object = SerializeKerasObject(
      "keras.src.models.functional",
      {"Functional",
       Value::Map{{"name", model.name},
                  {"trainable", model.trainable},
                  {"layers", std::move(layers)},
                  {"input_layers", EndsOf(std::move(inputs))},
                  {"output_layers", EndsOf(std::move(outputs))}}});
  object["registered_name"] = "Functional";
  object["build_config"] = Value::Map{{"input_shape", nullptr}};
  return object;
}

Value SerializeTree(const ModelTree& model, const Graph& graph) {
  return model.is_sequential ? SerializeSequential(model, graph)
                             : SerializeFunctional(model, graph);
}

absl::StatusOr<Value> SerializeLoss(const v1::Job& job, const Graph& graph,
                                    size_t output) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const Loss> loss,
                   MakeLossOf(job, graph, output));
  return loss == nullptr ? Value() : Serialize(*loss);
}

// Whether Keras has no metric of the name that a job has for the mean of a
// loss.
bool IsNameOfLossOnly(absl::string_view name, const Value& metric) {
  return TextOf(metric, "module") == "keras.losses" ||
         absl::EqualsIgnoreCase(name, "kld");
}

// Metrics of an output as the job has them: a name stays one if Keras knows it.
Value SerializeMetrics(
    const MetricObjects& given,
    absl::Span<const std::unique_ptr<const Metric>> metrics) {
  Value::List list;
  for (int i = 0; i < given.objects.size(); ++i) {
    const std::string& name = given.objects[i].class_name();
    Value metric = Serialize(*metrics[i]);
    const bool stays_name = given.objects[i].config().fields().empty() &&
                            !IsNameOfLossOnly(name, metric);
    list.push_back(stays_name ? Value(name) : std::move(metric));
  }
  return list;
}

// The metrics of an output, or those that are weighted.
template <bool kAreWeighted>
absl::StatusOr<Value> SerializeMetricsOf(const v1::Job& job, const Graph& graph,
                                         size_t output) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const Loss> loss,
                   MakeLossOf(job, graph, output));
  const MetricObjects given = MetricsOf(job, graph, output);
  const MetricObjects weighted = WeightedMetricsOf(job, graph, output);
  ASSIGN_OR_RETURN(const std::vector<std::unique_ptr<const Metric>> metrics,
                   MakeMetrics(given, weighted, loss.get(),
                               graph.output_shape(output), /*prefix=*/""));
  const auto first_weighted = static_cast<size_t>(given.objects.size());
  const auto span = absl::MakeConstSpan(metrics);
  return kAreWeighted ? SerializeMetrics(weighted, span.subspan(first_weighted))
                      : SerializeMetrics(given, span.first(first_weighted));
}

// Whether any output has weighted metrics.
bool HasWeightedMetrics(const v1::Job& job) {
  return !job.weighted_metrics().empty() ||
         !job.named_weighted_metrics().empty();
}

// What Keras' compile() is given: of the only output the value itself, of
// several a map by their names.
absl::StatusOr<Value> ByOutput(
    const v1::Job& job, const Graph& graph,
    absl::StatusOr<Value> (*serialize)(const v1::Job&, const Graph&, size_t)) {
  if (graph.outputs.size() == 1) return serialize(job, graph, 0);
  Value::Map map;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    ASSIGN_OR_RETURN(Value of_output, serialize(job, graph, i));
    map.push_back({graph.output_name(i), std::move(of_output)});
  }
  return Value(std::move(map));
}

// Keras wants the weight of each output or none; of the only output a number,
// since before 3.5 it fits no model that has a map of one. (Before 3.3 it takes
// neither.)
Value SerializeLossWeights(const v1::Job& job, const Graph& graph) {
  const auto& weights = job.loss_weights();
  if (weights.empty()) return nullptr;
  Value::Map map;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto weight = weights.find(graph.output_name(i));
    map.push_back(
        {graph.output_name(i), weight == weights.end() ? 1.0 : weight->second});
  }
  return map.size() == 1 ? std::move(map[0].value) : Value(std::move(map));
}

}  // namespace

absl::StatusOr<Value> SerializeModel(const v1::Job& job, const Graph& graph,
                                     const Optimizer& optimizer) {
  Value object = SerializeTree(graph.tree, graph);
  ASSIGN_OR_RETURN(Value loss, ByOutput(job, graph, SerializeLoss));
  ASSIGN_OR_RETURN(Value metrics,
                   ByOutput(job, graph, SerializeMetricsOf<false>));
  Value weighted_metrics;
  if (HasWeightedMetrics(job)) {
    ASSIGN_OR_RETURN(weighted_metrics,
                     ByOutput(job, graph, SerializeMetricsOf<true>));
  }
  object["compile_config"] =
      Value::Map{{"optimizer", Serialize(optimizer)},
                 {"loss", std::move(loss)},
                 {"loss_weights", SerializeLossWeights(job, graph)},
                 {"metrics", std::move(metrics)},
                 {"weighted_metrics", std::move(weighted_metrics)},
                 {"run_eagerly", false},
                 {"steps_per_execution", 1},
                 {"jit_compile", false}};
  return object;
}

}  // namespace paceline
