#include "common/keras/legacy_h5.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/peer_text.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"
#include "common/config/json_reader.h"
#include "common/hdf5/hdf5_attributes.h"
#include "common/keras/config_keys.h"
#include "common/keras/legacy_slots.h"
#include "common/limits.h"

namespace paceline {
namespace {

constexpr absl::string_view kWeightsGroup = "model_weights/";
// The variables that the model itself has.
constexpr absl::string_view kTopLevelGroup = "top_level_model_weights/";
// What Keras 2 puts before the names of its own optimizers.
constexpr absl::string_view kCustom = "Custom>";

// The compile_config that says the same as a training_config.
Value CompileConfigOf(Value training) {
  if (!training.is_map()) return training;
  for (Value::Entry& entry : training.as_map()) {
    if (entry.key != "optimizer_config") continue;
    entry.key = "optimizer";
    const Value* const config =
        entry.value.is_map() ? entry.value.Find("config") : nullptr;
    if (config != nullptr && config->is_map()) {
      // Of Keras 2 before 2.11; a schedule takes its place.
      std::erase_if(entry.value["config"].as_map(),
                    [](const Value::Entry& key) {
                      return key.key == "decay" && key.value == Value(0.0);
                    });
    }
    const std::string name = TextOf(entry.value, "class_name");
    if (absl::StartsWith(name, kCustom)) {
      entry.value["class_name"] = absl::StripPrefix(name, kCustom);
    }
  }
  return training;
}

// What comes before the groups of layers.
absl::string_view PrefixOf(const Hdf5Index& index) {
  const auto first = index.lower_bound(std::string(kWeightsGroup));
  return first != index.end() && absl::StartsWith(first->first, kWeightsGroup)
             ? kWeightsGroup
             : "";
}

// What a Bidirectional calls the layer that has this name in a file: Keras
// puts the direction before it. "": none of its layers.
absl::string_view DirectionOf(absl::string_view name) {
  return absl::StartsWith(name, "forward_")    ? "forward_layer"
         : absl::StartsWith(name, "backward_") ? "backward_layer"
                                               : "";
}

// Finds datasets by the names of layers and variables.
class DatasetNames {
 public:
  explicit DatasetNames(const Hdf5Index& index) : prefix_(PrefixOf(index)) {
    for (const auto& [path, dataset] : index) {
      if (!IsLegacyWeight(index, path)) continue;
      paths_.emplace(absl::StripPrefix(path, prefix_));
      const std::vector<std::string> parts = absl::StrSplit(
          absl::StripSuffix(absl::StripPrefix(path, prefix_), ":0"), '/');
      if (parts.size() < 2) continue;
      const std::string& group = parts.front();
      const std::string& variable = parts.back();
      found_[absl::StrCat(group, "/", variable)].push_back(path);
      if (parts.size() < 3) continue;
      found_[absl::StrCat(group, "/", parts[parts.size() - 2], "/", variable)]
          .push_back(path);
      // The cell of a recurrent layer has a name of its own, and so has the
      // layer in a TimeDistributed.
      if (parts.size() < 4) continue;
      found_[absl::StrCat(group, "/", parts[parts.size() - 3], "/", variable)]
          .push_back(path);
      AddDirection(parts, path);
    }
  }

  // "conv2d/kernel", or "base/conv2d/kernel" in a model in the model;
  // "both/forward_layer/kernel" of a Bidirectional. `exact`: where the variable
  // is if the file calls it as we do, below the group of its layer.
  absl::StatusOr<std::string> Find(const std::string& name,
                                   const std::string& exact) const {
    if (paths_.contains(exact)) return absl::StrCat(prefix_, exact);
    const auto found = found_.find(name);
    if (found == found_.end()) return absl::StrCat(prefix_, name);
    const std::vector<std::string>& paths = found->second;
    if (paths.size() == 1) return paths[0];
    return absl::InvalidArgumentError(
        absl::StrCat("both ", PeerText(paths[0]), " and ", PeerText(paths[1]),
                     " may be ", name, "; expected one, as in a .keras file"));
  }

 private:
  // A dataset of a Bidirectional, as that calls its layers: for
  // "both/both/forward_lstm/lstm_cell/kernel" both/forward_layer/kernel.
  void AddDirection(const std::vector<std::string>& parts,
                    const std::string& path) {
    // Old releases have no group of the cell.
    size_t i = parts.size() - 2;
    if (DirectionOf(parts[i]).empty()) --i;
    const absl::string_view direction = DirectionOf(parts[i]);
    if (direction.empty()) return;
    const std::string own =
        absl::StrCat(parts[i - 1], "/", direction, "/", parts.back());
    found_[absl::StrCat(parts[0], "/", own)].push_back(path);
    if (parts[i - 1] == parts[0]) found_[own].push_back(path);
  }

  const absl::string_view prefix_;
  // All, without the prefix.
  std::set<std::string> paths_;
  std::map<std::string, std::vector<std::string>> found_;
};

// Adds the paths of a model's variables. `outer`: the names of the models from
// the outermost one's child on, each with a "/"; "": it is the outermost.
absl::Status AddLegacyPaths(const Graph& graph, const ModelTree& model,
                            const std::string& outer, const DatasetNames& names,
                            std::vector<WeightPath>& paths) {
  for (const ModelTree::Child& child : model.children) {
    const std::string full = absl::StrCat(outer, child.name, "/");
    if (child.model != nullptr && child.callee < 0) {
      RETURN_IF_ERROR(AddLegacyPaths(graph, *child.model, full, names, paths));
    }
    const std::string group = full.substr(0, full.find('/') + 1);
    for (const int variable : child.variables) {
      absl::string_view own = absl::StripPrefix(
          graph.variables[variable].name, absl::StrCat(child.layer->name, "/"));
      const std::string exact = absl::StrCat(group, full, own);
      // Of a TimeDistributed.
      absl::ConsumePrefix(&own, "layer/");
      ASSIGN_OR_RETURN(std::string path,
                       names.Find(absl::StrCat(outer.empty() ? "" : group,
                                               child.name, "/", own),
                                  exact));
      paths.push_back({variable, std::move(path)});
    }
  }
  return absl::OkStatus();
}

// "conv2d/kernel" of the dataset model_weights/conv2d/conv2d/kernel:0.
std::string NameOf(absl::string_view path, absl::string_view prefix) {
  const std::vector<std::string> parts = absl::StrSplit(
      absl::StripSuffix(absl::StripPrefix(path, prefix), ":0"), '/');
  const bool repeats = parts.size() > 2 && parts[0] == parts[1];
  return absl::StrJoin(parts.begin() + (repeats ? 1 : 0), parts.end(), "/");
}

}  // namespace

absl::StatusOr<Value> ReadLegacyConfig(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file,
                   OpenRandomAccess(path));
  const auto texts =
      ReadHdf5Texts(*file, {kModelAttribute, kTrainingAttribute});
  if (!texts.ok()) return Annotate(texts.status(), path);
  const auto read = [&](const char* name) -> absl::StatusOr<Value> {
    const auto text = texts->find(name);
    if (text == texts->end()) return Value();
    return ReadJson(text->second, absl::StrCat(path, ": ", name),
                    limits::kMaxModelConfigBytes);
  };
  ASSIGN_OR_RETURN(Value config, read(kModelAttribute));
  if (!config.is_map()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": has no attribute ", kModelAttribute,
        ", expected a file of a whole model; one of weights alone can be the "
        "job's `weights`"));
  }
  ASSIGN_OR_RETURN(Value training, read(kTrainingAttribute));
  config["compile_config"] = CompileConfigOf(std::move(training));
  return config;
}

bool IsLegacy(const Hdf5Index& index) {
  return std::none_of(index.begin(), index.end(), [](const auto& each) {
    return absl::StartsWith(each.first, "layers/") ||
           absl::StartsWith(each.first, "optimizer/");
  });
}

bool IsLegacyWeight(const Hdf5Index& index, absl::string_view path) {
  return absl::ConsumePrefix(&path, PrefixOf(index)) &&
         !absl::StartsWith(path, kTopLevelGroup) &&
         !absl::StartsWith(path, kLegacyOptimizerGroup);
}

std::string LegacyVariableName(const Hdf5Index& index, absl::string_view path) {
  absl::ConsumePrefix(&path, PrefixOf(index));
  return std::string(path.substr(path.find('/') + 1));
}

absl::StatusOr<std::vector<WeightPath>> LegacyWeightPaths(
    const Graph& graph, const ModelTree& model, const Hdf5Index& index) {
  const DatasetNames names(index);
  std::vector<WeightPath> paths;
  RETURN_IF_ERROR(AddLegacyPaths(graph, model, "", names, paths));
  return paths;
}

absl::StatusOr<std::vector<NamedWeight>> LegacyNames(const Graph& graph,
                                                     const Hdf5Index& index) {
  ASSIGN_OR_RETURN(const std::vector<WeightPath> paths,
                   LegacyWeightPaths(graph, graph.tree, index));
  std::map<std::string, int> variable_at;
  for (const WeightPath& each : paths) {
    variable_at[each.path] = each.variable;
  }
  const absl::string_view prefix = PrefixOf(index);
  std::vector<NamedWeight> weights;
  for (const auto& [path, dataset] : index) {
    if (!IsLegacyWeight(index, path)) continue;
    const auto variable = variable_at.find(path);
    weights.push_back({variable == variable_at.end()
                           ? NameOf(path, prefix)
                           : graph.variables[variable->second].name,
                       path, dataset.shape});
  }
  return weights;
}

}  // namespace paceline
