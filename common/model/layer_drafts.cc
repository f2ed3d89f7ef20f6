#include "common/model/layer_drafts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/suggestion.h"
#include "common/limits.h"
#include "common/model/keras_names.h"
#include "common/model/layers/input_layer.h"
#include "common/model/make_layer.h"
#include "common/model/model_tree.h"
#include "common/model/output_name.h"
#include "common/model/repeated_call.h"

namespace paceline {
namespace {

// An operator (`unmasked`) is in a Functional only.
bool IsSequential(absl::Span<const KerasObject> layers,
                  absl::Span<const std::string> outputs) {
  return outputs.empty() &&
         std::all_of(layers.begin(), layers.end(),
                     [](const KerasObject& layer) {
                       return layer.inputs.empty() && !layer.unmasked &&
                              layer.class_name != RepeatedCall::kClassName;
                     });
}

// A draft with the names that its configuration gives.
struct NamedDraft {
  LayerDraft draft;
  std::vector<std::string> inputs;
  std::vector<std::string> masked_by;
  // Of a call.
  std::optional<std::string> callee;
};

absl::StatusOr<NamedDraft> ReadLayer(const KerasObject& object,
                                     const Path& path) {
  NamedDraft named;
  named.inputs = object.inputs;
  named.masked_by = object.masked_by;
  LayerDraft& draft = named.draft;
  draft.is_unmasked = object.unmasked;
  if (object.class_name == NestedModel::kClassName) {
    ASSIGN_OR_RETURN(draft.model,
                     NestedModel::Fields().Read(object.config, path));
    draft.name = draft.model.name;
  } else if (object.class_name == RepeatedCall::kClassName) {
    ASSIGN_OR_RETURN(RepeatedCall call,
                     RepeatedCall::Fields().Read(object.config, path));
    draft.name = std::move(call.name);
    named.callee = std::move(call.layer);
  } else {
    ASSIGN_OR_RETURN(draft.layer, MakeLayer(object, path));
    draft.name = draft.layer->name;
  }
  return named;
}

absl::StatusOr<std::vector<NamedDraft>> ReadLayers(
    absl::Span<const KerasObject> layers, const Path& path) {
  if (layers.size() < 2 || layers.size() > limits::kMaxLayers) {
    return ConfigError(path.Key("layers"),
                       absl::StrCat("a model has 2 to ", limits::kMaxLayers,
                                    " layers, the first of them an Input; got ",
                                    layers.size()));
  }
  std::vector<NamedDraft> drafts;
  for (const KerasObject& object : layers) {
    const Path layer_path = LayerPath(path, drafts.size());
    ASSIGN_OR_RETURN(drafts.emplace_back(), ReadLayer(object, layer_path));
    if (!drafts.front().draft.is_input()) {
      return ConfigError(layer_path, "the first layer must be an Input");
    }
  }
  return drafts;
}

// Names layers that have no name. InvalidArgument if two have the same.
absl::Status NameLayers(const Path& path, std::vector<NamedDraft>& drafts) {
  std::set<std::string> taken;
  for (size_t i = 0; i < drafts.size(); ++i) {
    const std::string& name = drafts[i].draft.name;
    if (!drafts[i].callee && absl::StrContains(name, '/')) {
      return ConfigError(
          LayerPath(path, i).Key("name"),
          absl::StrCat("\"", name,
                       "\" has a \"/\", which parts the names of models and "
                       "layers; expected a name without"));
    }
    if (!name.empty() && !taken.insert(name).second) {
      return ConfigError(LayerPath(path, i).Key("name"),
                         absl::StrCat("\"", name,
                                      "\" is the name of an "
                                      "earlier layer too"));
    }
  }
  std::map<std::string, int> next_index;
  std::map<std::string, int> next_call;
  for (auto& [draft, inputs, masked_by, callee] : drafts) {
    if (!draft.name.empty()) continue;
    const std::string stem = ToSnakeCase(draft.class_name());
    do {
      if (callee) {
        draft.name = RepeatedCallName(*callee, ++next_call[*callee]);
      } else {
        const int index = next_index[stem]++;
        draft.name = index == 0 ? stem : absl::StrCat(stem, "_", index);
      }
    } while (!taken.insert(draft.name).second);
  }
  return absl::OkStatus();
}

// Finds layers by their names.
class LayerIndex {
 public:
  explicit LayerIndex(absl::Span<const NamedDraft> drafts) : drafts_(drafts) {
    for (size_t i = 0; i < drafts.size(); ++i) {
      index_[drafts[i].draft.name] = static_cast<int>(i);
    }
  }

  // The index of the layer `name`, which must be among the first `count`.
  // `where` describes these in errors.
  absl::StatusOr<int> Find(const std::string& name, size_t count,
                           absl::string_view where, const Path& path) const {
    const auto found = index_.find(name);
    if (found != index_.end() && found->second < static_cast<int>(count)) {
      return found->second;
    }
    std::vector<std::string> known;
    for (const NamedDraft& each : drafts_.first(count)) {
      known.push_back(each.draft.name);
    }
    return ConfigError(path, absl::StrCat("\"", name, "\" is no layer ", where,
                                          Suggestion(name, known)));
  }

  // The same for the name of an output of a layer.
  absl::StatusOr<ModelTree::Source> FindOutput(const std::string& name,
                                               size_t count,
                                               absl::string_view where,
                                               const Path& path) const {
    const auto found = index_.find(name);
    const OutputName parts =
        found == index_.end() ? ParseOutputName(name) : OutputName{name};
    ASSIGN_OR_RETURN(const int layer,
                     Find(std::string(parts.layer), count, where, path));
    return ModelTree::Source{layer, parts.output};
  }

  // The output of the layer `index` for who names none. InvalidArgument if the
  // layer has several.
  absl::StatusOr<ModelTree::Source> OnlyOutput(int index,
                                               const Path& path) const {
    const NamedDraft& named = drafts_[index];
    const std::string& callee = named.callee.value_or(named.draft.name);
    const auto found = index_.find(callee);
    const size_t count =
        found == index_.end()
            ? 0
            : drafts_[found->second].draft.model.outputs.size();
    if (count <= 1) return ModelTree::Source{index};
    return ConfigError(
        path, absl::StrCat("missing; \"", named.draft.name, "\" has ", count,
                           " outputs, expected names such as \"",
                           named.draft.name, ":0\""));
  }

  // The layer that call `index` calls.
  absl::StatusOr<int> FindCallee(size_t index, const Path& path) const {
    const std::string& name = *drafts_[index].callee;
    const Path layer_path = path.Key("layer");
    ASSIGN_OR_RETURN(const int callee,
                     Find(name, index, "before this one", layer_path));
    const NamedDraft& called = drafts_[callee];
    if (!called.callee && !called.draft.is_input()) return callee;
    return ConfigError(layer_path,
                       absl::StrCat("\"", name, "\" is ",
                                    called.callee ? "a Call" : "an Input",
                                    ", expected the name of another layer"));
  }

  // What layer `index` reads; `called` is that layer, or the one that it calls.
  absl::StatusOr<std::vector<ModelTree::Source>> FindInputs(
      size_t index, const LayerDraft& called, const Path& path) const {
    const std::vector<std::string>& names = drafts_[index].inputs;
    const Path inputs_path = path.Key("inputs");
    RETURN_IF_ERROR(CheckInputCount(called, names.size(), inputs_path));
    std::vector<ModelTree::Source> inputs;
    if (names.empty() && !called.is_input()) {
      ASSIGN_OR_RETURN(inputs.emplace_back(),
                       OnlyOutput(static_cast<int>(index) - 1, inputs_path));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      ASSIGN_OR_RETURN(
          inputs.emplace_back(),
          FindOutput(names[i], index, "before this one", inputs_path.Index(i)));
    }
    return inputs;
  }

  // The layers of these names, which must come before layer `index`.
  absl::StatusOr<std::vector<int>> FindBefore(
      size_t index, const std::vector<std::string>& names,
      const Path& path) const {
    std::vector<int> layers;
    for (size_t i = 0; i < names.size(); ++i) {
      ASSIGN_OR_RETURN(layers.emplace_back(),
                       Find(names[i], index, "before this one", path.Index(i)));
    }
    return layers;
  }

 private:
  // Models are checked with their Inputs.
  static absl::Status CheckInputCount(const LayerDraft& layer, size_t named,
                                      const Path& path) {
    const auto expects = [&](absl::string_view expected) {
      return LayerError(
          layer.class_name(), layer.name, path,
          absl::InvalidArgumentError(absl::StrCat("expected the names of ",
                                                  expected, ", got ", named)));
    };
    if (named > limits::kMaxLayerInputs) {
      return expects(
          absl::StrCat("at most ", limits::kMaxLayerInputs, " layers"));
    }
    if (layer.layer == nullptr) return absl::OkStatus();
    if (layer.is_input()) {
      return named == 0 ? absl::OkStatus() : expects("no layers");
    }
    const InputCount count = layer.layer->input_count();
    if (layer.layer->is_merge() && named < count.least) {
      return expects("2 or more layers");
    }
    if (count.most == 1 && named > 1) return expects("1 layer");
    // The only input may be the layer before.
    if (count.most > 1 && (named < count.least || named > count.most)) {
      return expects(absl::StrCat(count.least, " to ", count.most, " layers"));
    }
    return absl::OkStatus();
  }

  const absl::Span<const NamedDraft> drafts_;
  absl::flat_hash_map<std::string, int> index_;
};

}  // namespace

absl::string_view LayerDraft::class_name() const {
  if (layer != nullptr) return layer->class_name();
  return callee >= 0
             ? RepeatedCall::kClassName
             : ModelClassName(IsSequential(model.layers, model.outputs));
}

bool LayerDraft::is_input() const {
  return class_name() == InputLayer::kClassName;
}

Path LayerPath(const Path& model, size_t index) {
  return model.Key("layers").Index(index);
}

absl::Status LayerError(absl::string_view class_name, absl::string_view name,
                        const Path& path, const absl::Status& error) {
  return ConfigError(
      path, absl::StrCat(class_name, " \"", name, "\": ", error.message()),
      error.code());
}

absl::StatusOr<ModelDraft> DraftModel(absl::Span<const KerasObject> layers,
                                      absl::Span<const std::string> outputs,
                                      const Path& path) {
  ASSIGN_OR_RETURN(std::vector<NamedDraft> named, ReadLayers(layers, path));
  RETURN_IF_ERROR(NameLayers(path, named));
  const LayerIndex index(named);
  ModelDraft model;
  model.is_sequential = IsSequential(layers, outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(model.outputs.emplace_back(),
                     index.FindOutput(outputs[i], named.size(), "of the model",
                                      path.Key("outputs").Index(i)));
  }
  if (outputs.empty()) {
    ASSIGN_OR_RETURN(model.outputs.emplace_back(),
                     index.OnlyOutput(static_cast<int>(named.size()) - 1,
                                      path.Key("outputs")));
  }
  for (size_t i = 0; i < named.size(); ++i) {
    const Path layer_path = LayerPath(path, i);
    LayerDraft& draft = named[i].draft;
    if (named[i].callee) {
      ASSIGN_OR_RETURN(draft.callee, index.FindCallee(i, layer_path));
    }
    const LayerDraft& called =
        draft.callee < 0 ? draft : named[draft.callee].draft;
    ASSIGN_OR_RETURN(draft.inputs, index.FindInputs(i, called, layer_path));
    ASSIGN_OR_RETURN(
        draft.masked_by,
        index.FindBefore(i, named[i].masked_by, layer_path.Key("masked_by")));
  }
  for (NamedDraft& each : named) model.layers.push_back(std::move(each.draft));
  return model;
}

}  // namespace paceline
