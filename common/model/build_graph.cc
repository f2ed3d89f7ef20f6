#include "common/model/build_graph.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/limits.h"
#include "common/model/graph_masks.h"
#include "common/model/keras_operator.h"
#include "common/model/layer_drafts.h"
#include "common/model/layers/activity_penalty.h"
#include "common/model/layers/input_layer.h"
#include "common/model/nested_model.h"
#include "common/model/shape_rule.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// A model whose layers are added to the graph.
struct Scope {
  // Of the model in the configuration.
  Path path;
  // Of names in the graph: "" or "outer/inner/".
  std::string prefix;
  bool trainable = true;
  // The number of models around it.
  int nesting = 0;
  // The nodes that the model reads; null for the outermost one.
  const std::vector<int>* inputs = nullptr;
};

// Checks that a model is given as many nodes as it has Inputs.
absl::Status CheckModelInputs(size_t expected, size_t given, const Path& path) {
  if (expected == given) return absl::OkStatus();
  return ConfigError(
      path.Key("inputs"),
      absl::StrCat("expected the names of ", expected, " layer",
                   expected == 1 ? "" : "s",
                   ", as many as the model has Inputs, got ", given));
}

absl::Status CheckAllAreRead(const ModelTree& model, const Path& path) {
  std::vector<bool> is_read(model.children.size());
  for (const ModelTree::Source& output : model.outputs) {
    is_read[output.child] = true;
  }
  for (const ModelTree::Child& child : model.children) {
    for (const ModelTree::Source& input : child.inputs) {
      is_read[input.child] = true;
    }
  }
  const auto add_name = [&model](std::string* text,
                                 const ModelTree::Source& output) {
    absl::StrAppend(text, "\"", model.children[output.child].name, "\"");
  };
  for (size_t i = 0; i < model.children.size(); ++i) {
    if (is_read[i]) continue;
    const ModelTree::Child& child = model.children[i];
    return LayerError(child.class_name(), child.name, LayerPath(path, i),
                      absl::InvalidArgumentError(absl::StrCat(
                          "no layer reads its output; the model's is that of ",
                          absl::StrJoin(model.outputs, ", ", add_name))));
  }
  return absl::OkStatus();
}

class GraphBuilder {
 public:
  absl::StatusOr<Graph> Build(const v1::Model& model) && {
    NestedModel outermost;
    outermost.name = model.name();
    outermost.outputs.assign(model.outputs().begin(), model.outputs().end());
    for (const v1::KerasObject& layer : model.layers()) {
      outermost.layers.push_back(FromProto(layer));
    }
    ASSIGN_OR_RETURN(graph_.tree, AddModel(outermost, {.path = Path("model"),
                                                       .prefix = ""}));
    for (const ModelTree::Source& output : graph_.tree.outputs) {
      const ModelTree::Child& child = graph_.tree.children[output.child];
      const int node = graph_.tree.NodeOf(output);
      const absl::Status status = masks_.CheckModelOutput(node);
      if (!status.ok()) {
        return LayerError(child.class_name(), child.name,
                          Path("model").Key("outputs"), status);
      }
      graph_.outputs.push_back(node);
      graph_.output_masks.push_back(masks_.OfModelOutput(node));
    }
    return std::move(graph_);
  }

 private:
  absl::StatusOr<ModelTree> AddModel(const NestedModel& model,
                                     const Scope& scope) {
    if (scope.nesting > limits::kMaxModelNesting) {
      return ConfigError(scope.path,
                         absl::StrCat("models are nested in more than ",
                                      limits::kMaxModelNesting, " models"));
    }
    ASSIGN_OR_RETURN(ModelDraft draft,
                     DraftModel(model.layers, model.outputs, scope.path));
    RETURN_IF_ERROR(CountLayers(draft.layers.size(), scope.path));
    RETURN_IF_ERROR(CheckInputs(draft.layers, scope));
    ModelTree tree;
    tree.name = model.name;
    tree.path = model.path;
    tree.trainable = scope.trainable;
    tree.is_sequential = draft.is_sequential;
    tree.outputs = std::move(draft.outputs);
    size_t input_count = 0;
    for (size_t i = 0; i < draft.layers.size(); ++i) {
      LayerDraft& layer = draft.layers[i];
      ModelTree::Child child;
      child.name = layer.name;
      child.callee = layer.callee;
      if (layer.is_input() && scope.inputs != nullptr) {
        child.nodes = {(*scope.inputs)[input_count++]};
      }
      child.inputs = std::move(layer.inputs);
      child.is_unmasked = layer.is_unmasked;
      const std::vector<int> masked_by = std::move(layer.masked_by);
      const Path path = LayerPath(scope.path, i);
      RETURN_IF_ERROR(CheckHasOutputs(child.inputs, tree, path.Key("inputs")));
      RETURN_IF_ERROR(AddChild(std::move(layer), tree, scope, path, child));
      RETURN_IF_ERROR(CheckMasks(child, masked_by, tree, path));
      child.mask_paths = masks_.PathsTo(child, tree);
      tree.children.push_back(std::move(child));
    }
    RETURN_IF_ERROR(
        CheckHasOutputs(tree.outputs, tree, scope.path.Key("outputs")));
    RETURN_IF_ERROR(CheckAllAreRead(tree, scope.path));
    return tree;
  }

  // Checks that children of `tree` have the outputs `sources`.
  static absl::Status CheckHasOutputs(
      absl::Span<const ModelTree::Source> sources, const ModelTree& tree,
      const Path& path) {
    for (size_t i = 0; i < sources.size(); ++i) {
      const ModelTree::Child& child = tree.children[sources[i].child];
      const size_t count = child.nodes.size();
      if (static_cast<size_t>(sources[i].output) < count) continue;
      return ConfigError(
          path.Index(i),
          absl::StrCat("is output ", sources[i].output, " of ",
                       child.class_name(), " \"", child.name, "\", which has ",
                       count, count == 1 ? " output" : " outputs"));
    }
    return absl::OkStatus();
  }

  // Checks what the configuration of a child of `tree` says of the masks of
  // what it reads.
  absl::Status CheckMasks(const ModelTree::Child& child,
                          const std::vector<int>& masked_by,
                          const ModelTree& tree, const Path& path) const {
    const auto at = [&](absl::string_view key, const absl::Status& status) {
      return status.ok() ? status
                         : LayerError(child.class_name(), child.name,
                                      path.Key(key), status);
    };
    RETURN_IF_ERROR(
        at("masked_by", masks_.CheckMakers(child, masked_by, tree)));
    return at("unmasked", masks_.CheckUnmasked(child, tree));
  }

  absl::Status CountLayers(size_t count, const Path& path) {
    layer_count_ += count;
    if (layer_count_ <= limits::kMaxLayers) return absl::OkStatus();
    return ConfigError(path.Key("layers"),
                       absl::StrCat("the model and those in it have more than ",
                                    limits::kMaxLayers, " layers"));
  }

  static absl::Status CheckInputs(absl::Span<const LayerDraft> layers,
                                  const Scope& scope) {
    if (scope.inputs == nullptr) return absl::OkStatus();
    const auto count =
        std::count_if(layers.begin(), layers.end(),
                      [](const LayerDraft& layer) { return layer.is_input(); });
    return CheckModelInputs(count, scope.inputs->size(), scope.path);
  }

  // Adds a child of `tree`, which has the children before it.
  absl::Status AddChild(LayerDraft draft, const ModelTree& tree,
                        const Scope& scope, const Path& path,
                        ModelTree::Child& child) {
    if (draft.is_input() && scope.inputs != nullptr) {
      return AddInput(std::move(draft), path, child);
    }
    std::vector<int> inputs;
    for (const ModelTree::Source& input : child.inputs) {
      inputs.push_back(tree.NodeOf(input));
    }
    if (draft.layer != nullptr) {
      return AddLayer(std::move(draft), scope, path, std::move(inputs), child);
    }
    if (child.callee < 0) {
      return AddInnerModel(draft.model, scope, path, inputs, child);
    }
    const ModelTree::Child& callee = tree.children[child.callee];
    if (OperatorOf(callee)) {
      return LayerError(callee.class_name(), callee.name, path,
                        absl::UnimplementedError(
                            "an operator (unmasked: true) that is called twice "
                            "is not supported yet"));
    }
    child.layer = callee.layer;
    child.model = callee.model;
    ASSIGN_OR_RETURN(child.nodes,
                     CallAgain(child, callee, std::move(inputs), path));
    return absl::OkStatus();
  }

  // Adds an input of a model in a model, whose node is another layer's.
  absl::Status AddInput(LayerDraft draft, const Path& path,
                        ModelTree::Child& child) {
    child.layer = draft.layer.get();
    graph_.layers.push_back(std::move(draft.layer));
    return CheckInput(child, child.nodes[0], path);
  }

  // Checks that the node `given` has the shape that an Input says.
  absl::Status CheckInput(const ModelTree::Child& child, int given,
                          const Path& path) const {
    const Shape& shape = graph_.nodes[given].output_shape;
    ASSIGN_OR_RETURN(const Shape expected, child.layer->OutputShape({}));
    if (shape == expected) return absl::OkStatus();
    return LayerError(
        child.class_name(), child.name, path,
        absl::InvalidArgumentError(absl::StrCat(
            "expected shape ", ShapeToString(expected),
            ", the model reads a layer of shape ", ShapeToString(shape))));
  }

  absl::Status AddInnerModel(const NestedModel& model, const Scope& outer,
                             const Path& path, const std::vector<int>& inputs,
                             ModelTree::Child& child) {
    const Scope scope = {.path = path,
                         .prefix = absl::StrCat(outer.prefix, child.name, "/"),
                         .trainable = outer.trainable && model.trainable,
                         .nesting = outer.nesting + 1,
                         .inputs = &inputs};
    masks_.EnterModel(inputs);
    ASSIGN_OR_RETURN(ModelTree tree, AddModel(model, scope));
    tree.name = child.name;
    for (const ModelTree::Source& output : tree.outputs) {
      child.nodes.push_back(tree.NodeOf(output));
    }
    masks_.LeaveModel(child.nodes);
    child.model = std::make_shared<const ModelTree>(std::move(tree));
    return absl::OkStatus();
  }

  static absl::Status CheckConstraint(const VariableSpec& variable) {
    const absl::Status status = variable.constraint.CheckShape(variable.shape);
    if (status.ok()) return status;
    return absl::InvalidArgumentError(absl::StrCat(
        "the constraint of its ", variable.name, ": ", status.message()));
  }

  // Adds a layer and its call on the nodes `inputs`.
  absl::Status AddLayer(LayerDraft draft, const Scope& scope, const Path& path,
                        std::vector<int> inputs, ModelTree::Child& child) {
    Layer& layer = *draft.layer;
    layer.name = absl::StrCat(scope.prefix, child.name);
    layer.trainable = layer.trainable && scope.trainable;
    child.layer = &layer;
    graph_.layers.push_back(std::move(draft.layer));
    if (inputs.empty()) {
      graph_.inputs.push_back(static_cast<int>(graph_.nodes.size()));
    }
    ASSIGN_OR_RETURN(Node node, MakeNode(layer, std::move(inputs), path));
    RETURN_IF_ERROR(CheckOperator(child, InputShapes(node), path));
    for (VariableSpec& variable : layer.Variables(InputShapes(node))) {
      absl::Status status = CheckShape(variable.shape);
      if (status.ok()) {
        status = variable.initializer->CheckShape(variable.shape);
      }
      if (status.ok()) status = CheckConstraint(variable);
      if (!status.ok()) {
        return LayerError(layer.class_name(), layer.name, path, status);
      }
      node.variables.push_back(static_cast<int>(graph_.variables.size()));
      AddVariable(layer, std::move(variable));
    }
    child.variables = node.variables;
    ASSIGN_OR_RETURN(child.nodes.emplace_back(),
                     AddNode(std::move(node), child, path));
    return absl::OkStatus();
  }

  // Refuses what an operator broadcasts otherwise than its layer does: numpy
  // adds axes in front of the batch's, Keras' merges behind it.
  static absl::Status CheckOperator(const ModelTree::Child& child,
                                    absl::Span<const Shape> inputs,
                                    const Path& path) {
    if (inputs.size() < 2 || inputs[0].size() == inputs[1].size() ||
        !OperatorOf(child)) {
      return absl::OkStatus();
    }
    return LayerError(
        child.class_name(), child.name, path.Key("unmasked"),
        absl::UnimplementedError(absl::StrCat(
            "an operator of tensors with different numbers of axes, ",
            ShapeToString(inputs[0]), " and ", ShapeToString(inputs[1]),
            ", is not supported")));
  }

  // Adds the nodes of a further call of `child`, whose variables are those of
  // `callee`; returns the nodes of its outputs.
  absl::StatusOr<std::vector<int>> CallAgain(const ModelTree::Child& child,
                                             const ModelTree::Child& callee,
                                             std::vector<int> inputs,
                                             const Path& path) {
    if (child.model != nullptr) {
      return CallAgain(*child.model, inputs, path);
    }
    const Layer& layer = *child.layer;
    ASSIGN_OR_RETURN(Node node, MakeNode(layer, std::move(inputs), path));
    const std::vector<VariableSpec> wanted = layer.Variables(InputShapes(node));
    CHECK_EQ(wanted.size(), callee.variables.size()) << layer.name;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const VariableSpec& had = graph_.variables[callee.variables[i]];
      if (had.update == VariableUpdate::kDelta) {
        return LayerError(
            layer.class_name(), layer.name, path,
            absl::UnimplementedError(
                "a layer with moving statistics that is called twice is not "
                "supported yet, unless it is frozen (trainable: false)"));
      }
      if (had.shape == wanted[i].shape) continue;
      return LayerError(layer.class_name(), layer.name, path,
                        absl::InvalidArgumentError(absl::StrCat(
                            "its first call needs ", had.name, " of shape ",
                            ShapeToString(had.shape), ", this one of shape ",
                            ShapeToString(wanted[i].shape))));
    }
    node.variables = callee.variables;
    ASSIGN_OR_RETURN(const int added, AddNode(std::move(node), child, path));
    return {{added}};
  }

  // The same for the layers of a model.
  absl::StatusOr<std::vector<int>> CallAgain(const ModelTree& model,
                                             absl::Span<const int> inputs,
                                             const Path& path) {
    const auto input_count = std::count_if(
        model.children.begin(), model.children.end(),
        [](const ModelTree::Child& child) { return child.inputs.empty(); });
    RETURN_IF_ERROR(CheckModelInputs(input_count, inputs.size(), path));
    masks_.EnterModel({inputs.begin(), inputs.end()});
    // By child and its output.
    std::vector<std::vector<int>> nodes;
    for (const ModelTree::Child& child : model.children) {
      if (child.inputs.empty()) {
        const int given = inputs.front();
        inputs.remove_prefix(1);
        RETURN_IF_ERROR(CheckInput(child, given, path));
        nodes.push_back({given});
        continue;
      }
      std::vector<int> read;
      for (const auto& [input, output] : child.inputs) {
        read.push_back(nodes[input][output]);
      }
      const ModelTree::Child& callee =
          child.callee < 0 ? child : model.children[child.callee];
      ASSIGN_OR_RETURN(nodes.emplace_back(),
                       CallAgain(child, callee, std::move(read), path));
    }
    std::vector<int> outputs;
    for (const auto& [child, output] : model.outputs) {
      outputs.push_back(nodes[child][output]);
    }
    masks_.LeaveModel(outputs);
    return outputs;
  }

  // A node with its output shape; without variables.
  absl::StatusOr<Node> MakeNode(const Layer& layer, std::vector<int> inputs,
                                const Path& path) {
    // Calls of models that call models twice multiply.
    if (call_count_++ >= limits::kMaxLayers) {
      return ConfigError(
          path, absl::StrCat("the model has more than ", limits::kMaxLayers,
                             " calls of layers"));
    }
    RETURN_IF_ERROR(CheckReadsIds(layer, path, inputs));
    Node node;
    node.layer = &layer;
    node.call = call_counts_[&layer]++;
    node.inputs = std::move(inputs);
    absl::StatusOr<Shape> output = layer.OutputShape(InputShapes(node));
    absl::Status status = output.status();
    if (status.ok()) status = CheckShape(*output);
    if (!status.ok()) {
      return LayerError(layer.class_name(), layer.name, path, status);
    }
    node.output_shape = *std::move(output);
    return node;
  }

  std::vector<Shape> InputShapes(const Node& node) const {
    std::vector<Shape> shapes;
    for (const int input : node.inputs) {
      shapes.push_back(graph_.nodes[input].output_shape);
    }
    return shapes;
  }

  // Adds the node of a call of `child`, its masks, and the penalty on its
  // output; returns it.
  absl::StatusOr<int> AddNode(Node node, const ModelTree::Child& child,
                              const Path& path) {
    const Layer& layer = *node.layer;
    absl::StatusOr<int> index = masks_.AddNode(std::move(node), child);
    if (!index.ok()) {
      return LayerError(layer.class_name(), layer.name, path, index.status());
    }
    AddPenalty(layer, *index);
    return index;
  }

  // Adds the node of the penalty on the output of `index`, a call of `layer`,
  // if there is one.
  void AddPenalty(const Layer& layer, int index) {
    Regularizer regularizer = layer.output_penalty();
    if (regularizer.is_zero()) return;
    auto penalty = std::make_unique<ActivityPenalty>(std::move(regularizer));
    penalty->name = absl::StrCat(layer.name, "/activity_regularizer");
    Node node;
    node.layer = penalty.get();
    node.inputs = {index};
    graph_.layers.push_back(std::move(penalty));
    graph_.nodes.push_back(std::move(node));
  }

  absl::Status CheckReadsIds(const Layer& layer, const Path& path,
                             const std::vector<int>& inputs) const {
    if (layer.id_count() == 0) return absl::OkStatus();
    const Layer& input = *graph_.nodes[inputs[0]].layer;
    if (input.class_name() == InputLayer::kClassName) return absl::OkStatus();
    return LayerError(
        layer.class_name(), layer.name, path.Key("inputs"),
        absl::InvalidArgumentError(absl::StrCat(
            "ids come from an Input only, not from \"", input.name, "\"")));
  }

  void AddVariable(const Layer& layer, VariableSpec variable) {
    variable.name = absl::StrCat(layer.name, "/", variable.name);
    if (!layer.trainable) Freeze(variable);
    graph_.variables.push_back(std::move(variable));
  }

  Graph graph_;
  GraphMasks masks_{graph_};
  size_t layer_count_ = 0;
  size_t call_count_ = 0;
  absl::flat_hash_map<const Layer*, int> call_counts_;
};

}  // namespace

absl::StatusOr<Graph> BuildGraph(const v1::Model& model) {
  return GraphBuilder().Build(model);
}

}  // namespace paceline
