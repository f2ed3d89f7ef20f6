#include "common/keras/model_config.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/config/class_error.h"
#include "common/config/codec.h"
#include "common/config/keras_object.h"
#include "common/keras/compile_config.h"
#include "common/keras/config_keys.h"
#include "common/keras/functional_inputs.h"
#include "common/keras/keras2_config.h"
#include "common/keras/keras_classes.h"
#include "common/keras/keras_tensor.h"
#include "common/keras/mask_operations.h"
#include "common/keras/mixed_precision.h"
#include "common/keras/not_supported.h"
#include "common/limits.h"
#include "common/model/layers/input_layer.h"
#include "common/model/nested_model.h"
#include "common/model/output_name.h"
#include "common/model/repeated_call.h"

namespace paceline {
namespace {

absl::StatusOr<const Value*> FindMap(const Value& map, absl::string_view key,
                                     const Path& path) {
  const Value* value = map.Find(key);
  if (value == nullptr) {
    return ConfigError(path.Key(key), "missing; expected a map");
  }
  if (!value->is_map()) return WrongType(*value, path.Key(key), "a map");
  return value;
}

absl::StatusOr<const Value::List*> FindList(const Value& map,
                                            absl::string_view key,
                                            const Path& path) {
  const Value* value = map.Find(key);
  if (value == nullptr) {
    return ConfigError(path.Key(key), "missing; expected a list");
  }
  if (!value->is_list()) return WrongType(*value, path.Key(key), "a list");
  return &value->as_list();
}

// Refuses a layer that is in two of the models. Keras gives the second entry a
// shared_object_id, but the first none, so that it makes two layers of them and
// finds no weights for the second. In a legacy file all entries have one; those
// of such a layer have the same. `seen`: the ids so far.
absl::Status CheckIsInOneModel(const Value& model, const Path& path,
                               std::set<int64_t>& seen) {
  const Value* const config = model.Find("config");
  const Value* const layers =
      config != nullptr && config->is_map() ? config->Find("layers") : nullptr;
  if (layers == nullptr || !layers->is_list()) return absl::OkStatus();
  const Path layers_path = path.Key("config").Key("layers");
  for (size_t i = 0; i < layers->as_list().size(); ++i) {
    const Value& layer = layers->as_list()[i];
    const Value* const id =
        layer.is_map() ? layer.Find("shared_object_id") : nullptr;
    if (id != nullptr && id->kind() == Value::Kind::kInt) {
      const bool is_legacy = TextOf(layer, "module").empty();
      if (!seen.insert(id->as_int()).second || !is_legacy) {
        return ConfigError(
            layers_path.Index(i),
            absl::StrCat("the layer ", Excerpt(Value(TextOf(layer, "name"))),
                         " is in two of the models, which Keras itself does "
                         "not load; expected a layer in one model, which may "
                         "be called again"),
            absl::StatusCode::kUnimplemented);
      }
    }
    if (!IsModelClass(TextOf(layer, "class_name"))) continue;
    RETURN_IF_ERROR(CheckIsInOneModel(layer, layers_path.Index(i), seen));
  }
  return absl::OkStatus();
}

// Names go into logs, terminals and paths.
absl::Status CheckName(const std::string& name, const Path& path) {
  if (PeerText(name) == name) return absl::OkStatus();
  return ConfigError(path, absl::StrCat("the name ", PeerText(name),
                                        " has control characters or is too "
                                        "long; expected a name to print"));
}

// Keras 2 takes names with a "/", which parts names of models and layers here,
// and is refused by Keras 3.
absl::Status CheckLayerName(const std::string& name, const Path& path) {
  RETURN_IF_ERROR(CheckName(name, path));
  if (!absl::StrContains(name, '/')) return absl::OkStatus();
  return ConfigError(
      path,
      absl::StrCat("the layer ", Excerpt(Value(name)),
                   " has a \"/\" in its name, which Keras 3 refuses, too; make "
                   "the model with other names in Keras 2, give it the weights "
                   "by new.set_weights(old.get_weights()), and save it"));
}

// The model {name, trainable, layers} of a Sequential or Functional. `nesting`:
// the number of models around it.
absl::StatusOr<Value> ReadModel(const Value& object, const Path& path,
                                int nesting);

// A layer or a model without its inputs. Refuses what holds code.
absl::StatusOr<KerasObject> ReadLayer(const Value& value, const Path& path,
                                      int nesting) {
  ASSIGN_OR_RETURN(KerasObject layer, ReadKerasObject(value, path));
  RETURN_IF_ERROR(CheckLayerName(TextOf(layer.config, "name"),
                                 path.Key("config").Key("name")));
  if (layer.class_name == "Lambda") {
    return ClassError(path, layer.class_name,
                      "a Lambda layer holds Python code, which is never run; "
                      "expected a layer of Keras");
  }
  if (layer.class_name == RepeatedCall::kClassName) {
    return ClassError(path, layer.class_name,
                      "is a class of jobs, not of Keras; expected "
                      "a further entry of inbound_nodes");
  }
  if (IsModelClass(layer.class_name)) {
    layer.class_name = NestedModel::kClassName;
    ASSIGN_OR_RETURN(layer.config, ReadModel(value, path, nesting + 1));
  }
  return layer;
}

// A Sequential's layers, with the InputLayer that older files leave out.
absl::StatusOr<std::vector<KerasObject>> ReadSequentialLayers(
    const Value& config, const Path& path, int nesting) {
  ASSIGN_OR_RETURN(const Value::List* const list,
                   FindList(config, "layers", path));
  std::vector<KerasObject> layers;
  for (const Value& value : *list) {
    ASSIGN_OR_RETURN(
        layers.emplace_back(),
        ReadLayer(value, path.Key("layers").Index(layers.size()), nesting));
  }
  if (!layers.empty() && layers[0].class_name == InputLayer::kClassName) {
    return layers;
  }
  const Value* const shape = config.Find("build_input_shape");
  if (shape == nullptr || shape->is_null()) {
    return ConfigError(path,
                       "has neither an InputLayer nor build_input_shape; "
                       "expected a model that was built before it was saved");
  }
  layers.insert(layers.begin(), {std::string(InputLayer::kClassName),
                                 Value::Map{{"batch_shape", *shape}}});
  return layers;
}

// A call of a layer of a Functional: the layer, or if it is not the first, a
// RepeatedCall.
struct Call {
  KerasObject object;
  // Of the layer's entry in the file.
  Path path;

  const std::string& name() const {
    return object.config.Find("name")->as_string();
  }
};

// Adds the calls of the layer in an entry of a Functional's layers.
// `masks`: by call.
absl::Status ReadCalls(const Value& value, const Path& path, int nesting,
                       const std::vector<CallMask>& masks,
                       std::vector<Call>& calls) {
  ASSIGN_OR_RETURN(KerasObject layer, ReadLayer(value, path, nesting));
  // Operations such as x + y have a name only beside their config.
  const std::string name = TextOf(value, "name");
  if (name.empty()) {
    return ConfigError(path.Key("name"), "missing; expected a name");
  }
  RETURN_IF_ERROR(CheckLayerName(name, path.Key("name")));
  ASSIGN_OR_RETURN(std::vector<std::vector<std::string>> inputs,
                   ReadInboundNodes(value, path));
  RETURN_IF_ERROR(MakeLayerOfOperation(value, name, path, layer));
  ASSIGN_OR_RETURN(const Value::Map flags, ReadCallFlags(value, path));
  for (const Value::Entry& flag : flags) layer.config[flag.key] = flag.value;
  layer.config["name"] = name;
  if (inputs.empty() && layer.class_name != InputLayer::kClassName) {
    return ConfigError(path.Key("inbound_nodes"),
                       "empty; expected the call of the layer");
  }
  if (!inputs.empty()) {
    layer.inputs = std::move(inputs[0]);
    layer.masked_by = masks[0].masked_by;
    layer.unmasked = masks[0].unmasked;
  }
  calls.push_back({std::move(layer), path});
  for (size_t i = 1; i < inputs.size(); ++i) {
    const std::string call_name = NameOfCall(name, static_cast<int>(i));
    calls.push_back(
        {{RepeatedCall::kClassName,
          Value::Map{{"name", call_name}, {"layer", name}},
          std::move(inputs[i]), masks[i].masked_by, masks[i].unmasked},
         path});
  }
  return absl::OkStatus();
}

// The names of what must come before a call: the tensors that it reads, and the
// first call of its layer.
std::vector<std::string> NamesBefore(const KerasObject& call) {
  std::vector<std::string> names = call.inputs;
  names.insert(names.end(), call.masked_by.begin(), call.masked_by.end());
  if (call.class_name == RepeatedCall::kClassName) {
    names.push_back(call.config.Find("layer")->as_string());
  }
  return names;
}

using CallIndex = absl::flat_hash_map<std::string, size_t>;

// The call that gives the tensor `name`.
CallIndex::const_iterator FindCall(const CallIndex& index,
                                   const std::string& name) {
  const auto found = index.find(name);
  return found != index.end() ? found : index.find(ParseOutputName(name).layer);
}

// Puts calls behind those that they read, and otherwise keeps their order.
absl::StatusOr<std::vector<KerasObject>> SortTopologically(
    std::vector<Call> calls) {
  CallIndex index;
  for (size_t i = 0; i < calls.size(); ++i) index.emplace(calls[i].name(), i);
  std::vector<std::vector<size_t>> readers(calls.size());
  std::vector<size_t> missing(calls.size());
  std::set<size_t> ready;
  for (size_t i = 0; i < calls.size(); ++i) {
    for (const std::string& before : NamesBefore(calls[i].object)) {
      const auto found = FindCall(index, before);
      if (found == index.end()) {
        return ConfigError(
            calls[i].path.Key("inbound_nodes"),
            absl::StrCat("there is no layer ", Excerpt(Value(before))));
      }
      readers[found->second].push_back(i);
      ++missing[i];
    }
    if (missing[i] == 0) ready.insert(i);
  }
  std::vector<KerasObject> sorted;
  while (!ready.empty()) {
    const size_t next = *ready.begin();
    ready.erase(ready.begin());
    for (const size_t reader : readers[next]) {
      if (--missing[reader] == 0) ready.insert(reader);
    }
    sorted.push_back(std::move(calls[next].object));
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    if (missing[i] == 0) continue;
    return ConfigError(calls[i].path,
                       "the layer reads itself, by a circle of layers");
  }
  return sorted;
}

// The entries of input_layers or output_layers: ["name", 0, 0], or a list or a
// map of such.
absl::StatusOr<std::vector<KerasHistory>> ReadEnds(const Value& config,
                                                   absl::string_view key,
                                                   const Path& path) {
  const Value* const ends = config.Find(key);
  const Path ends_path = path.Key(key);
  std::vector<KerasHistory> read;
  const auto add = [&](const Value& end, const Path& end_path) {
    absl::StatusOr<KerasHistory> history = ReadKerasHistory(end, end_path);
    if (history.ok()) read.push_back(*std::move(history));
    return history.status();
  };
  if (ends != nullptr && ends->is_map()) {
    for (const Value::Entry& end : ends->as_map()) {
      RETURN_IF_ERROR(add(end.value, ends_path.Key(end.key)));
    }
  } else if (ends != nullptr && ends->is_list() && !ends->as_list().empty() &&
             !ends->as_list()[0].is_string()) {
    for (size_t i = 0; i < ends->as_list().size(); ++i) {
      RETURN_IF_ERROR(add(ends->as_list()[i], ends_path.Index(i)));
    }
  } else {
    RETURN_IF_ERROR(add(ends == nullptr ? Value() : *ends, ends_path));
  }
  if (!read.empty()) return read;
  return ConfigError(ends_path, "empty; expected [\"name\", 0, 0]");
}

// Puts the Inputs first, in the order of input_layers: in that order a model
// reads other layers.
absl::Status PutInputsFirst(const std::vector<KerasHistory>& inputs,
                            const Path& path,
                            std::vector<KerasObject>& layers) {
  if (inputs.size() > limits::kMaxLayerInputs) {
    return ConfigError(
        path.Key("input_layers"),
        absl::StrCat("has ", inputs.size(), " entries, expected at most ",
                     limits::kMaxLayerInputs));
  }
  auto next = layers.begin();
  for (const KerasHistory& input : inputs) {
    const auto found =
        std::find_if(next, layers.end(), [&](const KerasObject& layer) {
          return layer.class_name == InputLayer::kClassName &&
                 TextOf(layer.config, "name") == input.layer;
        });
    if (found == layers.end()) {
      return ConfigError(
          path.Key("input_layers"),
          absl::StrCat("there is no InputLayer ", Excerpt(Value(input.layer))));
    }
    std::rotate(next, found, found + 1);
    ++next;
  }
  return absl::OkStatus();
}

// The names of the tensors that are the outputs of a Functional.
absl::StatusOr<std::vector<std::string>> ReadOutputs(const Value& config,
                                                     const Value::List& layers,
                                                     const Path& path) {
  ASSIGN_OR_RETURN(const std::vector<KerasHistory> outputs,
                   ReadEnds(config, "output_layers", path));
  std::vector<std::string> names;
  for (const KerasHistory& output : outputs) {
    const bool counts_from_1 =
        std::any_of(layers.begin(), layers.end(), [&](const Value& layer) {
          return TextOf(layer, "name") == output.layer &&
                 IsModelClass(TextOf(layer, "class_name")) &&
                 TextOf(layer, "class_name") != "Sequential";
        });
    names.push_back(NameOfTensor(
        {output.layer, std::max(0, output.call - (counts_from_1 ? 1 : 0)),
         output.output}));
  }
  return names;
}

struct Layers {
  // In topological order.
  std::vector<KerasObject> list;
  // Empty: the last is the only output.
  std::vector<std::string> outputs;
};

absl::StatusOr<Layers> ReadFunctionalLayers(const Value& config,
                                            const Path& path, int nesting) {
  ASSIGN_OR_RETURN(const Value::List* const list,
                   FindList(config, "layers", path));
  const Path layers_path = path.Key("layers");
  ASSIGN_OR_RETURN(const MaskOperations masks,
                   MaskOperations::Read(*list, layers_path));
  std::vector<Call> calls;
  for (size_t i = 0; i < list->size(); ++i) {
    if (masks.Has((*list)[i])) continue;
    RETURN_IF_ERROR(ReadCalls((*list)[i], layers_path.Index(i), nesting,
                              masks.MasksOf(i), calls));
  }
  Layers layers;
  ASSIGN_OR_RETURN(layers.list, SortTopologically(std::move(calls)));
  ASSIGN_OR_RETURN(const std::vector<KerasHistory> inputs,
                   ReadEnds(config, "input_layers", path));
  RETURN_IF_ERROR(PutInputsFirst(inputs, path, layers.list));
  ASSIGN_OR_RETURN(layers.outputs, ReadOutputs(config, *list, path));
  CallIndex index;
  for (size_t i = 0; i < layers.list.size(); ++i) {
    index.emplace(TextOf(layers.list[i].config, "name"), i);
  }
  for (const std::string& output : layers.outputs) {
    if (FindCall(index, output) != index.end()) continue;
    return ConfigError(
        path.Key("output_layers"),
        absl::StrCat("there is no layer ", Excerpt(Value(output))));
  }
  const bool last_is_only =
      layers.outputs.size() == 1 && !layers.list.empty() &&
      layers.list.back().config.Find("name")->as_string() == layers.outputs[0];
  if (last_is_only) layers.outputs.clear();
  return layers;
}

absl::StatusOr<Value> ReadModel(const Value& object, const Path& path,
                                int nesting) {
  const std::string class_name = TextOf(object, "class_name");
  if (!IsModelClass(class_name)) {
    return ConfigError(path.Key("class_name"),
                       absl::StrCat("is ", Excerpt(Value(class_name)),
                                    ", expected Sequential or Functional"));
  }
  if (nesting > limits::kMaxModelNesting) {
    return ConfigError(path, absl::StrCat("is a model in more than ",
                                          limits::kMaxModelNesting, " models"));
  }
  ASSIGN_OR_RETURN(const Value* const config, FindMap(object, "config", path));
  const Path config_path = path.Key("config");
  if (nesting == 0) {
    RETURN_IF_ERROR(CheckIsOfKeras(*config, config_path));
    std::set<int64_t> seen;
    RETURN_IF_ERROR(CheckIsInOneModel(object, path, seen));
  }
  Layers layers;
  if (class_name == "Sequential") {
    ASSIGN_OR_RETURN(layers.list,
                     ReadSequentialLayers(*config, config_path, nesting));
  } else {
    ASSIGN_OR_RETURN(layers,
                     ReadFunctionalLayers(*config, config_path, nesting));
  }
  Value::List list;
  for (const KerasObject& layer : layers.list) {
    list.push_back(WriteKerasObject(layer));
  }
  Value::Map model;
  const std::string name = TextOf(*config, "name");
  RETURN_IF_ERROR(CheckName(name, config_path.Key("name")));
  if (!name.empty()) model.push_back({"name", name});
  // As in Keras, `trainable` of a model says nothing here: setting it has set
  // that of all its layers, some of which may have been changed since.
  model.push_back({"layers", std::move(list)});
  if (!layers.outputs.empty()) {
    model.push_back(
        {"outputs", Value::List(layers.outputs.begin(), layers.outputs.end())});
  }
  return Value(std::move(model));
}

// The names of a model's outputs, by which it was compiled: those of the layers
// that give them; "" for a layer without a name. `object`: what ReadModel
// reads.
absl::StatusOr<std::vector<std::string>> ReadOutputNames(const Value& object,
                                                         const Path& path) {
  const Value& config = *object.Find("config");
  const Path config_path = path.Key("config");
  if (TextOf(object, "class_name") == "Sequential") {
    const Value::List& layers = config.Find("layers")->as_list();
    if (layers.empty()) return std::vector<std::string>{""};
    ASSIGN_OR_RETURN(const KerasObject last,
                     ReadKerasObject(layers.back(), config_path));
    return std::vector<std::string>{TextOf(last.config, "name")};
  }
  ASSIGN_OR_RETURN(const std::vector<KerasHistory> outputs,
                   ReadEnds(config, "output_layers", config_path));
  std::vector<std::string> names;
  for (const KerasHistory& output : outputs) names.push_back(output.layer);
  return names;
}

}  // namespace

absl::StatusOr<ModelConfig> ReadModelConfig(Value config, const Path& path) {
  if (!config.is_map()) return WrongType(config, path, "a map");
  RETURN_IF_ERROR(ConvertFromKeras2(config, path));
  ModelConfig read;
  ASSIGN_OR_RETURN(const std::string policy, TakeMixedPolicy(config, path));
  if (!policy.empty()) read.precision = Value(policy);
  ASSIGN_OR_RETURN(read.model, ReadModel(config, path, /*nesting=*/0));
  const Value* const compile = config.Find("compile_config");
  if (compile == nullptr || compile->is_null()) return read;
  ASSIGN_OR_RETURN(const std::vector<std::string> outputs,
                   ReadOutputNames(config, path));
  ASSIGN_OR_RETURN(read.compile, ReadCompileConfig(*compile, outputs,
                                                   path.Key("compile_config")));
  return read;
}

}  // namespace paceline
