#include "common/keras/checkpoint_objects.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/keras/slot_paths.h"
#include "common/limits.h"
#include "common/tensorflow_checkpoint/messages.pb.h"

namespace paceline {
namespace {

using Object = tensorflow::TrackableObjectGraph::TrackableObject;

constexpr absl::string_view kFunctional = "_functional";
constexpr absl::string_view kLayerList = "_operations";
constexpr absl::string_view kLayer = "layer_with_weights-";
constexpr absl::string_view kOptimizer = "optimizer";
// Of the optimizer in mixed precision, which scales the loss.
constexpr absl::string_view kInnerOptimizer = "inner_optimizer";
constexpr absl::string_view kVariableList = "_variables";
constexpr absl::string_view kVariable = "VARIABLE_VALUE";
// Lists of what is an attribute, too; in a SavedModel.
constexpr absl::string_view kLists[] = {"keras_api", "variables",
                                        "trainable_variables"};
// Of layers in a layer: Keras' own nest three levels deep.
constexpr int kMaxParts = 16;
constexpr size_t kMaxPathBytes = 1024;
// Of all variables, which may share a long path that the graph has once. Those
// of 1,000 layers have 0.2 MB.
constexpr size_t kMaxAllPathBytes = 16 << 20;

bool HasModelsChild(const Object& object) {
  return std::any_of(object.children().begin(), object.children().end(),
                     [](const Object::ObjectReference& child) {
                       return child.local_name() == kFunctional ||
                              child.local_name() == kLayerList ||
                              absl::StartsWith(child.local_name(), kLayer);
                     });
}

const Object::SerializedTensor* ValueOf(const Object& object) {
  for (const Object::SerializedTensor& each : object.attributes()) {
    if (each.name() == kVariable) return &each;
  }
  return nullptr;
}

class ModelWalk {
 public:
  explicit ModelWalk(const tensorflow::TrackableObjectGraph& graph)
      : graph_(graph),
        is_visited_(graph.nodes_size()),
        is_model_(graph.nodes_size()),
        values_(graph.nodes_size()) {
    // Once, since anybody may refer to an object, and it may have many parts.
    for (int i = 0; i < graph.nodes_size(); ++i) {
      is_model_[i] = HasModelsChild(graph.nodes(i));
      values_[i] = ValueOf(graph.nodes(i));
    }
  }

  absl::StatusOr<std::vector<CheckpointVariable>> Walk() {
    ASSIGN_OR_RETURN(const int model, FindModel());
    RETURN_IF_ERROR(AddModel(model, "", 0));
    RETURN_IF_ERROR(AddOptimizer(model));
    return std::move(found_);
  }

 private:
  absl::StatusOr<int> FindModel() const {
    if (is_model_[0]) return 0;
    std::map<int, std::string> models;
    for (const Object::ObjectReference& child : graph_.nodes(0).children()) {
      if (is_model_[child.node_id()]) {
        models.emplace(child.node_id(), child.local_name());
      }
    }
    if (models.size() == 1) return models.begin()->first;
    if (models.empty()) {
      return absl::InvalidArgumentError(
          "its objects are no Sequential or Functional model, expected one of "
          "tf.train.Checkpoint(model=model) or model.save_weights()");
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "has several models, ", PeerText(models.begin()->second), " and ",
        PeerText(models.rbegin()->second), ", expected one"));
  }

  // The child of that name; -1: there is none.
  int Child(int object, absl::string_view name) const {
    for (const Object::ObjectReference& child :
         graph_.nodes(object).children()) {
      if (child.local_name() == name) return child.node_id();
    }
    return -1;
  }

  // The children that are called `prefix` and a number, by that number.
  std::map<int, int> Numbered(int object, absl::string_view prefix) const {
    std::map<int, int> numbered;
    for (const Object::ObjectReference& child :
         graph_.nodes(object).children()) {
      absl::string_view name = child.local_name();
      int number = 0;
      if (absl::ConsumePrefix(&name, prefix) &&
          absl::SimpleAtoi(name, &number)) {
        numbered.emplace(number, child.node_id());
      }
    }
    return numbered;
  }

  // Not visited before, so that the walk ends, and is short.
  bool Visit(int object) {
    if (is_visited_[object]) return false;
    is_visited_[object] = true;
    return true;
  }

  absl::Status AddModel(int model, const std::string& path, int nesting) {
    if (nesting > limits::kMaxModelNesting) {
      return absl::DataLossError(
          absl::StrCat("models in its model nest deeper than ",
                       limits::kMaxModelNesting, " levels"));
    }
    if (!Visit(model)) return absl::OkStatus();
    if (const int functional = Child(model, kFunctional); functional >= 0) {
      model = functional;
      if (!Visit(model)) return absl::OkStatus();
    }
    const int operations = Child(model, kLayerList);
    release_ = operations >= 0 ? KerasRelease::k3 : KerasRelease::k2;
    const std::map<int, int> layers =
        operations >= 0 ? Numbered(operations, "") : Numbered(model, kLayer);
    int count = 0;
    for (const auto& [number, layer] : layers) {
      const std::string place = absl::StrCat(path, kLayer, count, "/");
      const size_t before = found_.size();
      RETURN_IF_ERROR(is_model_[layer] ? AddModel(layer, place, nesting + 1)
                                       : AddLayer(layer, place, 0));
      if (nesting > 0) {
        for (size_t i = before; i < found_.size(); ++i) found_[i].layer = "";
      }
      if (found_.size() > before) ++count;
    }
    return absl::OkStatus();
  }

  // `parts`: how many layers around it are in one layer of the model.
  absl::Status AddLayer(int layer, const std::string& path, int parts) {
    if (parts > kMaxParts || path.size() > kMaxPathBytes) {
      return absl::DataLossError(absl::StrCat(
          PeerText(path), ": nests deeper than ", kMaxParts,
          " levels, or its path has more than ", kMaxPathBytes, " bytes"));
    }
    if (!Visit(layer)) return absl::OkStatus();
    for (const Object::ObjectReference& child :
         graph_.nodes(layer).children()) {
      const std::string& name = child.local_name();
      if (std::count(std::begin(kLists), std::end(kLists), name) > 0) continue;
      if (const auto* value = values_[child.node_id()]; value != nullptr) {
        if (Visit(child.node_id())) {
          RETURN_IF_ERROR(AddVariable(layer, name, *value, path, parts));
        }
      } else {
        RETURN_IF_ERROR(AddLayer(
            child.node_id(),
            absl::StrCat(path, absl::StripPrefix(name, "_"), "/"), parts + 1));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddVariable(int layer, absl::string_view attribute,
                           const Object::SerializedTensor& value,
                           const std::string& path, int parts) {
    // "sequential/lstm/lstm_cell/kernel".
    const std::vector<std::string> names =
        absl::StrSplit(value.full_name(), '/', absl::SkipEmpty());
    std::string own(names.empty() ? absl::StripPrefix(attribute, "_")
                                  : absl::string_view(names.back()));
    // How Keras 2 calls the kernel of a DepthwiseConv2D.
    if (own == "depthwise_kernel" && Child(layer, "pointwise_kernel") < 0) {
      own = "kernel";
    }
    CheckpointVariable variable;
    variable.path = absl::StrCat(path, own);
    variable.key = value.checkpoint_key();
    variable.release = release_;
    const int place = static_cast<int>(names.size()) - 2 - parts;
    if (place >= 0) variable.layer = names[place];
    path_of_[&value] = variable.path;
    return Add(std::move(variable));
  }

  absl::Status AddOptimizer(int model) {
    int optimizer = Child(0, kOptimizer);
    if (optimizer < 0) optimizer = Child(model, kOptimizer);
    if (optimizer < 0) return absl::OkStatus();
    if (const int inner = Child(optimizer, kInnerOptimizer); inner >= 0) {
      optimizer = inner;
    }
    for (const char* const name : {"_iterations", "iter"}) {
      if (const int count = Child(optimizer, name); count >= 0) {
        RETURN_IF_ERROR(AddOfOptimizer(count, kIterationPath));
        break;
      }
    }
    if (const int list = Child(optimizer, kVariableList); list >= 0) {
      for (const auto& [number, variable] : Numbered(list, "")) {
        if (number == 0) continue;
        RETURN_IF_ERROR(
            AddOfOptimizer(variable, absl::StrCat(kOptimizerGroup, number)));
      }
    }
    for (const auto& slot : graph_.nodes(optimizer).slot_variables()) {
      const auto variable =
          path_of_.find(values_[slot.original_variable_node_id()]);
      // Of a variable that is not the model's.
      if (variable == path_of_.end()) continue;
      RETURN_IF_ERROR(
          AddOfOptimizer(slot.slot_variable_node_id(),
                         absl::StrCat(kNamedSlotGroup, variable->second, "/",
                                      slot.slot_name())));
    }
    return absl::OkStatus();
  }

  absl::Status AddOfOptimizer(int object, std::string path) {
    const Object::SerializedTensor* const value = values_[object];
    if (value == nullptr) return absl::OkStatus();
    CheckpointVariable variable;
    variable.path = std::move(path);
    variable.key = value->checkpoint_key();
    variable.release = release_;
    return Add(std::move(variable));
  }

  absl::Status Add(CheckpointVariable variable) {
    path_bytes_ += variable.path.size();
    if (path_bytes_ > kMaxAllPathBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the paths of its variables have more than ",
                       kMaxAllPathBytes, " bytes"));
    }
    if (!paths_.insert(variable.path).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "two variables may be ", PeerText(variable.path), ", the second is ",
          PeerText(variable.key), "; expected one"));
    }
    found_.push_back(std::move(variable));
    return absl::OkStatus();
  }

  const tensorflow::TrackableObjectGraph& graph_;
  // By object.
  std::vector<bool> is_visited_;
  std::vector<bool> is_model_;
  // Null: it is no variable.
  std::vector<const Object::SerializedTensor*> values_;
  std::vector<CheckpointVariable> found_;
  std::set<std::string> paths_;
  // Of the model's variables.
  std::map<const Object::SerializedTensor*, std::string> path_of_;
  size_t path_bytes_ = 0;
  KerasRelease release_ = KerasRelease::k3;
};

}  // namespace

absl::StatusOr<std::vector<CheckpointVariable>> FindModelVariables(
    absl::string_view graph) {
  tensorflow::TrackableObjectGraph parsed;
  if (!parsed.ParseFromArray(graph.data(), static_cast<int>(graph.size())) ||
      parsed.nodes().empty()) {
    return absl::DataLossError("is no TrackableObjectGraph");
  }
  for (const Object& object : parsed.nodes()) {
    for (const Object::ObjectReference& child : object.children()) {
      if (child.node_id() < 0 || child.node_id() >= parsed.nodes_size()) {
        return absl::DataLossError(absl::StrCat(
            PeerText(child.local_name()), " is object ", child.node_id(),
            ", expected one below ", parsed.nodes_size()));
      }
    }
    for (const auto& slot : object.slot_variables()) {
      for (const int id :
           {slot.original_variable_node_id(), slot.slot_variable_node_id()}) {
        if (id >= 0 && id < parsed.nodes_size()) continue;
        return absl::DataLossError(absl::StrCat(
            "the slot ", PeerText(slot.slot_name()), " is of object ", id,
            ", expected one below ", parsed.nodes_size()));
      }
    }
  }
  return ModelWalk(parsed).Walk();
}

}  // namespace paceline
