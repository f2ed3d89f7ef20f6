#include "common/job/trainable_layers.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/value.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "common/model/model_tree.h"
#include "glog/logging.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace paceline {
namespace {

// Names of the model that an error shows, at most.
constexpr size_t kShownNames = 8;

// Whether `name` is `pattern`, in which `*` stands for any characters.
bool FitsName(absl::string_view pattern, absl::string_view name) {
  size_t p = 0;
  size_t n = 0;
  // Where to go on if the last `*` has to stand for a character more.
  size_t star = absl::string_view::npos;
  size_t after_star = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      after_star = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != absl::string_view::npos) {
      p = star;
      n = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// The names in a list, and which of them fit a layer.
class NamedLayers {
 public:
  explicit NamedLayers(
      const google::protobuf::RepeatedPtrField<std::string>& names)
      : names_(names.begin(), names.end()), fits_(names_.size(), false) {}

  bool Has(absl::string_view layer) {
    bool has = false;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (!FitsName(names_[i], layer)) continue;
      fits_[i] = true;
      has = true;
    }
    return has;
  }

  absl::Status CheckAllFit(const Path& path,
                           const std::vector<std::string>& layers) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (fits_[i]) continue;
      std::vector<std::string> shown = layers;
      if (shown.size() > kShownNames) shown.resize(kShownNames);
      return ConfigError(
          path.Index(i),
          absl::StrCat("no layer of the model is named ",
                       Excerpt(Value(names_[i])), "; expected one of ",
                       absl::StrJoin(shown, ", "),
                       layers.size() > shown.size() ? ", …" : "",
                       ", or such a name with * for any characters"));
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<std::string> names_;
  std::vector<bool> fits_;
};

void SetTrainable(bool trainable, Value& config) {
  // What is true by default stays unsaid.
  if (trainable && config.Find("trainable") == nullptr) return;
  config["trainable"] = Value(trainable);
}

bool IsTrainable(const Value& config) {
  const Value* const trainable = config.Find("trainable");
  return trainable == nullptr || *trainable != Value(false);
}

class TrainableLayers {
 public:
  explicit TrainableLayers(const v1::TrainingPhase& phase)
      : trainable_(phase.trainable()), frozen_(phase.frozen()) {}

  // What is known of a layer from the models around it.
  struct Scope {
    // Before the names of layers: "base/".
    std::string prefix;
    bool is_trainable = true;
    bool is_named_trainable = false;
    bool is_named_frozen = false;
  };

  // Sets `trainable` of a layer, which is `child` of its model.
  absl::Status Apply(const ModelTree::Child& child, const Scope& outer,
                     KerasObject& layer) {
    // A further call has the layer of the first one.
    if (child.callee >= 0) return absl::OkStatus();
    const std::string name = absl::StrCat(outer.prefix, child.name);
    names_.push_back(name);
    Scope scope;
    scope.prefix = absl::StrCat(name, "/");
    scope.is_trainable = outer.is_trainable && IsTrainable(layer.config);
    scope.is_named_trainable = trainable_.Has(name) || outer.is_named_trainable;
    scope.is_named_frozen = frozen_.Has(name) || outer.is_named_frozen;
    if (child.model != nullptr) return ApplyToModel(*child.model, scope, layer);
    if (child.variables.empty()) return absl::OkStatus();
    const bool is_trainable = scope.is_named_trainable || scope.is_trainable;
    SetTrainable(is_trainable && !scope.is_named_frozen, layer.config);
    return absl::OkStatus();
  }

  absl::Status CheckNames(const Path& path) const {
    RETURN_IF_ERROR(trainable_.CheckAllFit(path.Key("trainable"), names_));
    return frozen_.CheckAllFit(path.Key("frozen"), names_);
  }

 private:
  absl::Status ApplyToModel(const ModelTree& tree, const Scope& scope,
                            KerasObject& model) {
    // Its layers say it, one by one.
    SetTrainable(true, model.config);
    Value::List& layers = model.config["layers"].as_list();
    CHECK_EQ(layers.size(), tree.children.size());
    for (size_t i = 0; i < layers.size(); ++i) {
      ASSIGN_OR_RETURN(KerasObject layer, ReadLayerObject(layers[i], Path()));
      RETURN_IF_ERROR(Apply(tree.children[i], scope, layer));
      layers[i] = WriteKerasObject(layer);
    }
    return absl::OkStatus();
  }

  NamedLayers trainable_;
  NamedLayers frozen_;
  // Of all layers.
  std::vector<std::string> names_;
};

}  // namespace

absl::Status SetTrainableLayers(const v1::TrainingPhase& phase,
                                const Path& path, v1::Model& model) {
  if (phase.trainable().empty() && phase.frozen().empty()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Graph graph, BuildGraph(model));
  CHECK_EQ(static_cast<size_t>(model.layers_size()),
           graph.tree.children.size());
  TrainableLayers layers(phase);
  for (int i = 0; i < model.layers_size(); ++i) {
    KerasObject layer = FromProto(model.layers(i));
    RETURN_IF_ERROR(layers.Apply(graph.tree.children[i], {}, layer));
    ASSIGN_OR_RETURN(*model.mutable_layers(i), ToProto(layer, path));
  }
  return layers.CheckNames(path);
}

}  // namespace paceline
