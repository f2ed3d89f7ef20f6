// Keras' reader takes layers and variables in the order of the attributes
// layer_names and weight_names, and the model by its config. Layers in the
// config have the form that they have in a `.keras`, which that reader takes,
// too. Keras itself leaves out their modules here, and then takes x + y for a
// layer Add, knows no NotEqual, and loses an `axis` of several numbers. What
// the model was compiled with it finds by the name of the class alone.
#include "common/keras/legacy_writer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/config/json_value.h"
#include "common/config/value.h"
#include "common/keras/config_keys.h"
#include "common/keras/legacy_h5.h"
#include "common/keras/serialize_model.h"
#include "common/keras/weight_paths.h"
#include "common/keras/weights_stream.h"
#include "common/model/keras_names.h"
#include "common/model/keras_operator.h"
#include "common/model/model_tree.h"

namespace paceline {
namespace {

constexpr char kBackend[] = "tensorflow";
constexpr char kModelGroup[] = "model_weights";
constexpr char kStateGroup[] = "optimizer_weights";
// Of the variables that the model itself has: there are none.
constexpr char kTopLevelName[] = "top_level_model_weights";
constexpr char kWeightNames[] = "weight_names";

// What the name of a slot begins with: "dense_kernel".
std::string FlatName(absl::string_view variable) {
  return absl::StrReplaceAll(variable, {{"/", "_"}});
}

std::string TextOfJson(const Value& value) { return ToJson(value).dump(); }

// Of a layer, or of all layers of a model, in Keras' order.
void AddVariables(const ModelTree::Child& child, std::vector<int>& variables) {
  if (child.model != nullptr) {
    for (const int index : KerasLayerOrder(*child.model)) {
      AddVariables(child.model->children[index], variables);
    }
  }
  variables.insert(variables.end(), child.variables.begin(),
                   child.variables.end());
}

class LegacyFile {
 public:
  explicit LegacyFile(const TrainedModel& model) : model_(model) {}

  // `object`: what SerializeModel gives.
  void AddConfig(const Value& object) {
    AddRelease("");
    const Value config = Value::Map{{"class_name", *object.Find("class_name")},
                                    {"config", *object.Find("config")}};
    AddAttribute("", kModelAttribute, TextOfJson(config));
    Value training = *object.Find("compile_config");
    for (Value::Entry& entry : training.as_map()) {
      if (entry.key == "optimizer") entry.key = "optimizer_config";
    }
    AddAttribute("", kTrainingAttribute, TextOfJson(training));
  }

  void AddLayers() {
    const ModelTree& tree = model_.graph.tree;
    std::vector<std::string> names;
    for (const int index : KerasLayerOrder(tree)) {
      const ModelTree::Child& child = tree.children[index];
      if (OperatorOf(child)) continue;
      names.push_back(child.name);
      AddLayer(child);
    }
    AddRelease(kModelGroup);
    AddNames(kModelGroup, "layer_names", names);
    AddNames(absl::StrCat(kModelGroup, "/", kTopLevelName), kWeightNames, {});
  }

  void AddOptimizer() {
    const Optimizer& optimizer = model_.optimizer;
    const std::string own =
        absl::StrCat(ToSnakeCase(optimizer.class_name()), "/");
    std::string around;
    if (const std::optional<LossScaling>& scaling = optimizer.loss_scaling) {
      around = absl::StrCat(ToSnakeCase(LossScaling::kClassName), "/");
      for (WrittenDataset& each : LossScaleState(*scaling)) {
        const std::string name = absl::StrCat(around, each.name);
        AddState(name, std::move(each));
      }
    }
    for (WrittenDataset& each : OptimizerState(model_)) {
      const std::string name =
          each.variable.empty()
              ? absl::StrCat(own, each.name)
              : absl::StrCat(around, own, FlatName(each.variable), "_",
                             each.slot);
      AddState(name, std::move(each));
    }
    AddNames(kStateGroup, kWeightNames, state_names_);
  }

  absl::Status WriteTo(const std::string& path) && {
    return WeightsStream(model_, std::move(datasets_), {}, attributes_)
        .WriteTo(path);
  }

 private:
  void AddAttribute(std::string group, std::string name, std::string text) {
    attributes_.push_back({std::move(group), std::move(name), std::move(text)});
  }

  // What wrote the group.
  void AddRelease(const std::string& group) {
    AddAttribute(group, "keras_version", kWrittenKerasVersion);
    AddAttribute(group, "backend", kBackend);
  }

  // In as many attributes as it takes, "layer_names0" and so on if more than
  // one: equal parts, the first ones longer by one. Source: Keras'
  // save_attributes_to_hdf5_group, and numpy.array_split.
  void AddNames(const std::string& group, const std::string& attribute,
                absl::Span<const std::string> names) {
    const size_t most = kHdf5MaxListBytes / Hdf5TextBytes(names);
    const size_t count = names.size();
    const size_t parts = std::max<size_t>((count + most - 1) / most, 1);
    for (size_t part = 0; part < parts; ++part) {
      const size_t size = (count + parts - 1 - part) / parts;
      attributes_.push_back(
          {group, parts == 1 ? attribute : absl::StrCat(attribute, part),
           std::vector<std::string>(names.begin(), names.begin() + size)});
      names.remove_prefix(size);
    }
  }

  // Keras' _legacy_weights: first the variables that are trained.
  void AddLayer(const ModelTree::Child& child) {
    std::vector<int> variables;
    AddVariables(child, variables);
    std::stable_partition(variables.begin(), variables.end(), [this](int i) {
      return model_.graph.variables[i].is_trained();
    });
    const std::string group = absl::StrCat(kModelGroup, "/", child.name);
    std::vector<std::string> names;
    for (const int index : variables) {
      const VariableSpec& variable = model_.graph.variables[index];
      names.push_back(variable.name);
      datasets_.push_back(
          VariableDataset(absl::StrCat(group, "/", variable.name), variable));
    }
    AddNames(group, kWeightNames, names);
  }

  void AddState(const std::string& name, WrittenDataset dataset) {
    dataset.entry.path = absl::StrCat(kStateGroup, "/", name);
    datasets_.push_back(std::move(dataset));
    state_names_.push_back(name);
  }

  const TrainedModel& model_;
  std::vector<WrittenDataset> datasets_;
  std::vector<Hdf5Attribute> attributes_;
  // Of the optimizer.
  std::vector<std::string> state_names_;
};

absl::Status CannotHave(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("a legacy .h5 cannot have ", what, " or a .keras"));
}

// HDF5's names end at a NUL, and lists of them have 64 KiB.
absl::Status CheckNameText(const std::string& name) {
  constexpr size_t kMaxNameBytes = 4096;
  if (name.size() <= kMaxNameBytes && !absl::StrContains(name, '\0')) {
    return absl::OkStatus();
  }
  return CannotHave(absl::StrCat("the name ", PeerText(name), " of ",
                                 name.size(), " bytes; expected at most ",
                                 kMaxNameBytes, " without a NUL"));
}

absl::Status CheckLayerNames(const ModelTree& model) {
  for (const ModelTree::Child& child : model.children) {
    RETURN_IF_ERROR(CheckNameText(child.name));
    // In a path of HDF5 it means the group itself.
    if (child.name == ".") {
      return CannotHave("a layer called \".\"; expected another name");
    }
    if (child.model == nullptr) continue;
    RETURN_IF_ERROR(CheckLayerNames(*child.model));
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const Graph& graph) {
  RETURN_IF_ERROR(CheckLayerNames(graph.tree));
  for (const ModelTree::Child& child : graph.tree.children) {
    if (child.name != kTopLevelName) continue;
    return CannotHave(absl::StrCat("a layer called ", kTopLevelName,
                                   "; expected another name"));
  }
  std::set<std::string> names;
  for (const VariableSpec& variable : graph.variables) {
    RETURN_IF_ERROR(CheckNameText(variable.name));
    if (!variable.is_trained() ||
        names.insert(FlatName(variable.name)).second) {
      continue;
    }
    return CannotHave(absl::StrCat(
        "the optimizer's state of ", variable.name,
        " and of another variable that is called so, too, with each \"/\" as "
        "\"_\"; expected other names"));
  }
  return absl::OkStatus();
}

// `metrics`: a list, or a map of lists.
absl::Status CheckMetrics(const Value& metrics) {
  if (metrics.is_map()) {
    for (const Value::Entry& entry : metrics.as_map()) {
      RETURN_IF_ERROR(CheckMetrics(entry.value));
    }
  }
  if (!metrics.is_list()) return absl::OkStatus();
  for (const Value& metric : metrics.as_list()) {
    if (TextOf(metric, "module") != "keras.losses") continue;
    return CannotHave(absl::StrCat("the metric ", TextOf(metric, "class_name"),
                                   ", which Keras has only as a loss; expected "
                                   "another"));
  }
  return absl::OkStatus();
}

absl::Status CheckCompiled(const Value& compiled) {
  RETURN_IF_ERROR(CheckMetrics(*compiled.Find("metrics")));
  RETURN_IF_ERROR(CheckMetrics(*compiled.Find("weighted_metrics")));
  const std::string optimizer =
      TextOf(*compiled.Find("optimizer"), "class_name");
  // It is missing in the list of keras/src/optimizers/__init__.py.
  if (optimizer != "Lamb") return absl::OkStatus();
  return CannotHave(
      "the optimizer Lamb, with which Keras does not load it; expected "
      "another");
}

// What SerializeModel gives.
absl::StatusOr<Value> SerializeChecked(const v1::Job& job, const Graph& graph,
                                       const Optimizer& optimizer) {
  RETURN_IF_ERROR(CheckNames(graph));
  ASSIGN_OR_RETURN(Value object, SerializeModel(job, graph, optimizer));
  RETURN_IF_ERROR(CheckCompiled(*object.Find("compile_config")));
  return object;
}

}  // namespace

absl::Status CheckLegacyModel(const v1::Job& job, const Graph& graph,
                              const Optimizer& optimizer) {
  return SerializeChecked(job, graph, optimizer).status();
}

absl::Status WriteLegacyModel(const std::string& path,
                              const TrainedModel& model) {
  ASSIGN_OR_RETURN(const Value object,
                   SerializeChecked(model.job, model.graph, model.optimizer));
  LegacyFile file(model);
  file.AddConfig(object);
  file.AddLayers();
  file.AddOptimizer();
  return std::move(file).WriteTo(path);
}

}  // namespace paceline
