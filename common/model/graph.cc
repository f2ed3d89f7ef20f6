#include "common/model/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/suggestion.h"
#include "common/limits.h"
#include "common/model/keras_names.h"
#include "common/model/layers/input_layer.h"
#include "common/model/make_layer.h"
#include "common/model/shape_rule.h"

namespace paceline {
namespace {

Path LayerPath(size_t index) {
  return Path("model").Key("layers").Index(index);
}

// An error about a layer as a whole, with the layer's name.
absl::Status LayerError(const Layer& layer, const Path& path,
                        const absl::Status& error) {
  return ConfigError(path,
                     absl::StrCat(layer.class_name(), " \"", layer.name,
                                  "\": ", error.message()),
                     error.code());
}

bool IsInput(const Layer& layer) {
  return layer.class_name() == InputLayer::kClassName;
}

// A layer of the model, with the names of the layers that it reads.
struct NamedLayer {
  std::unique_ptr<Layer> layer;
  std::vector<std::string> inputs;
};

absl::StatusOr<std::vector<NamedLayer>> MakeLayers(const v1::Model& model) {
  const Path path = Path("model").Key("layers");
  if (model.layers_size() < 2 || model.layers_size() > limits::kMaxLayers) {
    return ConfigError(path,
                       absl::StrCat("a model has 2 to ", limits::kMaxLayers,
                                    " layers, the first of them an Input; got ",
                                    model.layers_size()));
  }
  std::vector<NamedLayer> entries;
  for (const v1::KerasObject& proto : model.layers()) {
    const Path layer_path = LayerPath(entries.size());
    KerasObject object = FromProto(proto);
    ASSIGN_OR_RETURN(std::unique_ptr<Layer> layer,
                     MakeLayer(object, layer_path));
    if (entries.empty() && !IsInput(*layer)) {
      return ConfigError(layer_path, "the first layer must be an Input");
    }
    entries.push_back({std::move(layer), std::move(object.inputs)});
  }
  return entries;
}

absl::Status CheckHasOneInput(absl::Span<const NamedLayer> entries) {
  for (size_t i = 1; i < entries.size(); ++i) {
    if (!IsInput(*entries[i].layer)) continue;
    return ConfigError(LayerPath(i), "only the first layer is an Input");
  }
  return absl::OkStatus();
}

// Names layers that have no name. InvalidArgument if two have the same.
absl::Status NameLayers(std::vector<NamedLayer>& entries) {
  std::set<std::string> taken;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string& name = entries[i].layer->name;
    if (!name.empty() && !taken.insert(name).second) {
      return ConfigError(LayerPath(i).Key("name"),
                         absl::StrCat("\"", name,
                                      "\" is the name of an "
                                      "earlier layer too"));
    }
  }
  std::map<std::string, int> next_index;
  for (const auto& [layer, inputs] : entries) {
    if (!layer->name.empty()) continue;
    const std::string stem = ToSnakeCase(layer->class_name());
    do {
      const int index = next_index[stem]++;
      layer->name = index == 0 ? stem : absl::StrCat(stem, "_", index);
    } while (!taken.insert(layer->name).second);
  }
  return absl::OkStatus();
}

using LayerIndex = absl::flat_hash_map<std::string, int>;

LayerIndex IndexLayers(absl::Span<const NamedLayer> entries) {
  LayerIndex index;
  for (size_t i = 0; i < entries.size(); ++i) {
    index[entries[i].layer->name] = static_cast<int>(i);
  }
  return index;
}

// The index of the layer `name`, which must be among `layers`. `where`
// describes these in errors.
absl::StatusOr<int> FindLayer(const LayerIndex& index,
                              absl::Span<const NamedLayer> layers,
                              absl::string_view where, const std::string& name,
                              const Path& path) {
  const auto found = index.find(name);
  if (found != index.end() && found->second < static_cast<int>(layers.size())) {
    return found->second;
  }
  std::vector<std::string> known;
  for (const NamedLayer& entry : layers) known.push_back(entry.layer->name);
  return ConfigError(path, absl::StrCat("\"", name, "\" is no layer ", where,
                                        Suggestion(name, known)));
}

// The nodes that entry `index` reads.
absl::StatusOr<std::vector<int>> FindInputs(
    const LayerIndex& layers, absl::Span<const NamedLayer> entries,
    size_t index) {
  const Layer& layer = *entries[index].layer;
  const std::vector<std::string>& names = entries[index].inputs;
  const Path path = LayerPath(index).Key("inputs");
  const auto expects = [&](absl::string_view count) {
    return LayerError(
        layer, path,
        absl::InvalidArgumentError(absl::StrCat("expected the names of ", count,
                                                ", got ", names.size())));
  };
  if (names.size() > limits::kMaxLayerInputs) {
    return expects(
        absl::StrCat("at most ", limits::kMaxLayerInputs, " layers"));
  }
  std::vector<int> inputs;
  for (size_t i = 0; i < names.size(); ++i) {
    ASSIGN_OR_RETURN(inputs.emplace_back(),
                     FindLayer(layers, entries.first(index), "before this one",
                               names[i], path.Index(i)));
  }
  if (IsInput(layer)) {
    if (!inputs.empty()) return expects("no layers");
    return inputs;
  }
  if (names.empty()) inputs = {static_cast<int>(index) - 1};
  if (layer.is_merge() && inputs.size() < 2) return expects("2 or more layers");
  if (!layer.is_merge() && inputs.size() > 1) return expects("1 layer");
  const Layer& first_input = *entries[inputs[0]].layer;
  if (layer.id_count() > 0 && !IsInput(first_input)) {
    return LayerError(layer, path,
                      absl::InvalidArgumentError(absl::StrCat(
                          "ids come from an Input only, not from \"",
                          first_input.name, "\"")));
  }
  return inputs;
}

// Adds a call of `layer` on the nodes `inputs`.
absl::Status AddNode(std::unique_ptr<const Layer> layer,
                     std::vector<int> inputs, const Path& path, Graph& graph) {
  std::vector<Shape> shapes;
  for (const int input : inputs) {
    shapes.push_back(graph.nodes[input].output_shape);
  }
  Node node;
  node.layer = layer.get();
  node.inputs = std::move(inputs);
  absl::StatusOr<Shape> output = layer->OutputShape(shapes);
  absl::Status status = output.status();
  if (status.ok()) status = CheckShape(*output);
  if (!status.ok()) return LayerError(*layer, path, status);
  node.output_shape = *std::move(output);
  for (VariableSpec& variable : layer->Variables(shapes)) {
    status = CheckShape(variable.shape);
    if (!status.ok()) return LayerError(*layer, path, status);
    variable.name = absl::StrCat(layer->name, "/", variable.name);
    if (!layer->trainable) {
      variable.update = VariableUpdate::kNone;
      // As in Keras, frozen variables have no penalty.
      variable.regularizer = Regularizer();
    }
    node.variables.push_back(static_cast<int>(graph.variables.size()));
    graph.variables.push_back(std::move(variable));
  }
  graph.layers.push_back(std::move(layer));
  graph.nodes.push_back(std::move(node));
  return absl::OkStatus();
}

// The names of the outputs, for errors.
std::string OutputNames(const Graph& graph) {
  return absl::StrJoin(
      graph.outputs, ", ", [&graph](std::string* text, int output) {
        absl::StrAppend(text, "\"", graph.nodes[output].layer->name, "\"");
      });
}

absl::Status CheckAllAreRead(const Graph& graph) {
  std::vector<bool> is_read(graph.nodes.size());
  for (const int output : graph.outputs) is_read[output] = true;
  for (const Node& node : graph.nodes) {
    for (const int input : node.inputs) is_read[input] = true;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_read[i]) continue;
    return LayerError(*graph.nodes[i].layer, LayerPath(i),
                      absl::InvalidArgumentError(absl::StrCat(
                          "no layer reads its output; the model's is that of ",
                          OutputNames(graph))));
  }
  return absl::OkStatus();
}

// Builds the graph; all layers must have names.
absl::StatusOr<Graph> BuildGraphOf(std::vector<NamedLayer> entries,
                                   absl::Span<const std::string> outputs) {
  const LayerIndex index = IndexLayers(entries);
  Graph graph;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(graph.outputs.emplace_back(),
                     FindLayer(index, entries, "of the model", outputs[i],
                               Path("model").Key("outputs").Index(i)));
  }
  std::vector<std::vector<int>> inputs;
  for (size_t i = 0; i < entries.size(); ++i) {
    ASSIGN_OR_RETURN(inputs.emplace_back(), FindInputs(index, entries, i));
    if (inputs.back().empty()) graph.inputs.push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    RETURN_IF_ERROR(AddNode(std::move(entries[i].layer), std::move(inputs[i]),
                            LayerPath(i), graph));
  }
  RETURN_IF_ERROR(CheckAllAreRead(graph));
  return graph;
}

}  // namespace

int64_t ReaderCount(const Graph& graph, int node) {
  int64_t count = 0;
  for (const Node& each : graph.nodes) {
    count += std::count(each.inputs.begin(), each.inputs.end(), node);
  }
  return count + std::count(graph.outputs.begin(), graph.outputs.end(), node);
}

int64_t FeatureIdCount(const Graph& graph, size_t input) {
  int64_t least = 0;
  for (const Node& node : graph.nodes) {
    const int64_t count = node.layer->id_count();
    if (count == 0 || node.inputs[0] != graph.inputs[input]) continue;
    if (least == 0 || count < least) least = count;
  }
  return least;
}

absl::StatusOr<Graph> BuildGraph(const v1::Model& model) {
  ASSIGN_OR_RETURN(std::vector<NamedLayer> entries, MakeLayers(model));
  RETURN_IF_ERROR(CheckHasOneInput(entries));
  RETURN_IF_ERROR(NameLayers(entries));
  const std::string output = entries.back().layer->name;
  return BuildGraphOf(std::move(entries), {output});
}

absl::StatusOr<Graph> BuildGraph(const v1::Model& model,
                                 absl::Span<const std::string> outputs) {
  ASSIGN_OR_RETURN(std::vector<NamedLayer> entries, MakeLayers(model));
  RETURN_IF_ERROR(NameLayers(entries));
  return BuildGraphOf(std::move(entries), outputs);
}

}  // namespace paceline
