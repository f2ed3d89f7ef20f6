#include "common/model/graph.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
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

// An error about a layer as a whole, which its name tells apart from others.
absl::Status LayerError(const Layer& layer, const Path& path,
                        const absl::Status& error) {
  return ConfigError(path,
                     absl::StrCat(layer.class_name(), " \"", layer.name,
                                  "\": ", error.message()),
                     error.code());
}

absl::StatusOr<std::vector<std::unique_ptr<Layer>>> MakeLayers(
    const v1::Model& model) {
  const Path path = Path("model").Key("layers");
  if (model.layers_size() < 2 || model.layers_size() > limits::kMaxLayers) {
    return ConfigError(path,
                       absl::StrCat("a model has 2 to ", limits::kMaxLayers,
                                    " layers, the first of them an Input; got ",
                                    model.layers_size()));
  }
  std::vector<std::unique_ptr<Layer>> layers;
  for (const v1::KerasObject& object : model.layers()) {
    const Path layer_path = LayerPath(layers.size());
    ASSIGN_OR_RETURN(std::unique_ptr<Layer> layer,
                     MakeLayer(FromProto(object), layer_path));
    const bool is_input = layer->class_name() == InputLayer::kClassName;
    if (is_input != layers.empty()) {
      return ConfigError(layer_path, is_input
                                         ? "only the first layer is an Input"
                                         : "the first layer must be an Input");
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

// Gives names to layers that have none. InvalidArgument if two have the same.
absl::Status NameLayers(std::vector<std::unique_ptr<Layer>>& layers) {
  std::set<std::string> taken;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string& name = layers[i]->name;
    if (!name.empty() && !taken.insert(name).second) {
      return ConfigError(LayerPath(i).Key("name"),
                         absl::StrCat("\"", name,
                                      "\" is the name of an "
                                      "earlier layer too"));
    }
  }
  std::map<std::string, int> next_index;
  for (const std::unique_ptr<Layer>& layer : layers) {
    if (!layer->name.empty()) continue;
    const std::string stem = ToSnakeCase(layer->class_name());
    do {
      const int index = next_index[stem]++;
      layer->name = index == 0 ? stem : absl::StrCat(stem, "_", index);
    } while (!taken.insert(layer->name).second);
  }
  return absl::OkStatus();
}

// Adds a call of `layer` on the last node.
absl::Status AddNode(std::unique_ptr<const Layer> layer, const Path& path,
                     Graph& graph) {
  Node node;
  node.layer = layer.get();
  std::vector<Shape> inputs;
  if (!graph.nodes.empty()) {
    node.inputs = {static_cast<int>(graph.nodes.size()) - 1};
    inputs = {graph.nodes.back().output_shape};
  }
  absl::StatusOr<Shape> output = layer->OutputShape(inputs);
  absl::Status status = output.status();
  if (status.ok()) status = CheckShape(*output);
  if (!status.ok()) return LayerError(*layer, path, status);
  node.output_shape = *std::move(output);
  for (VariableSpec& variable : layer->Variables(inputs)) {
    status = CheckShape(variable.shape);
    if (!status.ok()) return LayerError(*layer, path, status);
    variable.name = absl::StrCat(layer->name, "/", variable.name);
    node.variables.push_back(static_cast<int>(graph.variables.size()));
    graph.variables.push_back(std::move(variable));
  }
  graph.layers.push_back(std::move(layer));
  graph.nodes.push_back(std::move(node));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> BuildGraph(const v1::Model& model) {
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Layer>> layers,
                   MakeLayers(model));
  RETURN_IF_ERROR(NameLayers(layers));
  Graph graph;
  for (size_t i = 0; i < layers.size(); ++i) {
    RETURN_IF_ERROR(AddNode(std::move(layers[i]), LayerPath(i), graph));
  }
  graph.output = static_cast<int>(graph.nodes.size()) - 1;
  return graph;
}

}  // namespace paceline
