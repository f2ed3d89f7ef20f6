#include "common/keras/keras2_config.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/keras/config_keys.h"
#include "common/keras/not_supported.h"

namespace paceline {
namespace {

constexpr absl::string_view kOldModule = "tf_keras.";
// Keys of configs that say nothing about the model.
constexpr absl::string_view kMeaningless[] = {"is_legacy_optimizer",
                                              "jit_compile", "fn",
                                              "input_length", "implementation"};
// Keys that layers have of a base class, and do not use.
constexpr std::pair<absl::string_view, absl::string_view> kInherited[] = {
    {"Conv2DTranspose", "groups"},
    {"DepthwiseConv2D", "groups"},
    {"SeparableConv2D", "groups"},
    {"SeparableConv2D", "kernel_initializer"},
    {"SeparableConv2D", "kernel_regularizer"},
    {"SeparableConv2D", "kernel_constraint"},
    {"SpatialDropout1D", "noise_shape"},
    {"SpatialDropout1D", "trainable"},
    {"SpatialDropout2D", "noise_shape"},
    {"SpatialDropout2D", "trainable"}};
// Functions of TFOpLambda, and the operations of Keras 3.
constexpr std::pair<absl::string_view, absl::string_view> kOperations[] = {
    {"__operators__.add", "Add"},   {"math.add", "Add"},
    {"math.multiply", "Multiply"},  {"math.subtract", "Subtract"},
    {"math.truediv", "TrueDivide"}, {"math.divide", "TrueDivide"}};
// In the place of a layer's name: a number.
constexpr absl::string_view kConstant = "_CONSTANT_VALUE";

Value* FindIn(Value& map, absl::string_view key) {
  return map.is_map() && map.Find(key) != nullptr ? &map[key] : nullptr;
}

void Erase(Value& map, absl::string_view key) {
  std::erase_if(map.as_map(),
                [key](const Value::Entry& entry) { return entry.key == key; });
}

void Rename(Value& map, absl::string_view from, absl::string_view to) {
  for (Value::Entry& entry : map.as_map()) {
    if (entry.key == from) entry.key = std::string(to);
  }
}

// The config of an object of the class.
void ConvertObjectConfig(const std::string& class_name, Value& config) {
  for (const absl::string_view key : kMeaningless) Erase(config, key);
  for (const auto& [inheriting, key] : kInherited) {
    if (inheriting == class_name) Erase(config, key);
  }
  // Steps before the batch. Others refuse the key.
  const Value* const time_major = config.Find("time_major");
  if (time_major != nullptr && *time_major == Value(false)) {
    Erase(config, "time_major");
  }
  if (class_name == "InputLayer") {
    Rename(config, "batch_input_shape", "batch_shape");
  } else {
    Erase(config, "batch_input_shape");
  }
  if (class_name == "LeakyReLU") Rename(config, "alpha", "negative_slope");
  if (class_name == "BatchNormalization") {
    Value* const axis = FindIn(config, "axis");
    if (axis != nullptr && axis->is_list() && axis->as_list().size() == 1) {
      *axis = Value(axis->as_list()[0]);
    }
  }
  if (TextOf(config, "reduction") == "auto") {
    config["reduction"] = "sum_over_batch_size";
  }
}

// A function as a metric, as the name by which Keras finds it.
void ConvertMetric(Value& value) {
  if (TextOf(value, "class_name") != "MeanMetricWrapper") return;
  const Value& config = value["config"];
  const std::string name = TextOf(config, "name");
  const std::string function = TextOf(config, "fn");
  if (!function.empty()) {
    value = Value(name == "accuracy" || name == "acc" ? name : function);
  }
}

// All objects in `value`.
void ConvertObjects(Value& value) {
  ConvertMetric(value);
  if (value.is_list()) {
    for (Value& each : value.as_list()) ConvertObjects(each);
  }
  if (!value.is_map()) return;
  for (Value::Entry& entry : value.as_map()) ConvertObjects(entry.value);
  const std::string module = TextOf(value, "module");
  if (absl::StartsWith(module, kOldModule)) {
    value["module"] = absl::StrCat("keras.", module.substr(kOldModule.size()));
  }
  Value* const config = FindIn(value, "config");
  if (config != nullptr && config->is_map()) {
    ConvertObjectConfig(TextOf(value, "class_name"), *config);
  }
}

bool IsNumberAbove0(const Value& config, absl::string_view key) {
  const Value* const number = config.Find(key);
  return number != nullptr && number->is_number() && number->as_double() > 0;
}

// Whether a layer or model computes the same in training and in inference: no
// variable is trained, and nothing is dropped at random.
bool HasOneMode(const Value& layer) {
  const Value* const config = layer.is_map() ? layer.Find("config") : nullptr;
  if (config == nullptr || !config->is_map()) return false;
  const std::string class_name = TextOf(layer, "class_name");
  if (const Value* const layers = config->Find("layers");
      IsModelClass(class_name) && layers != nullptr && layers->is_list()) {
    return std::all_of(layers->as_list().begin(), layers->as_list().end(),
                       HasOneMode);
  }
  if (absl::StrContains(class_name, "Dropout") ||
      absl::StrContains(class_name, "Noise") ||
      IsNumberAbove0(*config, "dropout") ||
      IsNumberAbove0(*config, "recurrent_dropout")) {
    return false;
  }
  const Value* const trainable = config->Find("trainable");
  return class_name == "InputLayer" ||
         (trainable != nullptr && *trainable == Value(false));
}

// Refuses a function of another formula in Keras 3, wherever it is.
absl::Status CheckActivations(const Value& value, const Path& path) {
  if (value.is_list()) {
    for (size_t i = 0; i < value.as_list().size(); ++i) {
      RETURN_IF_ERROR(CheckActivations(value.as_list()[i], path.Index(i)));
    }
  }
  if (!value.is_map()) return absl::OkStatus();
  for (const Value::Entry& entry : value.as_map()) {
    if (absl::EndsWith(entry.key, "activation") &&
        entry.value == Value("hard_sigmoid")) {
      return ConfigError(
          path.Key(entry.key),
          "hard_sigmoid of Keras 2 is clip(0.2 x + 0.5, 0, 1), which no "
          "activation of Keras 3 is, so model.keras could not say it; in the "
          "place of an activation of an output, Rescaling(0.2, 0.5) and "
          "ReLU(1) "
          "are the same",
          absl::StatusCode::kUnimplemented);
    }
    RETURN_IF_ERROR(CheckActivations(entry.value, path.Key(entry.key)));
  }
  return absl::OkStatus();
}

// Whether Keras 2 wrote it: Keras 3 has no such key.
bool IsOfKeras2(const Value& value) {
  if (value.is_list()) {
    return std::any_of(value.as_list().begin(), value.as_list().end(),
                       IsOfKeras2);
  }
  return value.is_map() &&
         std::any_of(value.as_map().begin(), value.as_map().end(),
                     [](const Value::Entry& entry) {
                       return entry.key == "batch_input_shape" ||
                              IsOfKeras2(entry.value);
                     });
}

// The calls of the layers of one Functional.
class CallConverter {
 public:
  explicit CallConverter(const Value::List& layers) {
    for (const Value& layer : layers) {
      if (!IsModelClass(TextOf(layer, "class_name"))) continue;
      models_.insert(TextOf(layer, "name"));
      if (TextOf(layer, "class_name") == "Sequential") {
        sequentials_.insert(TextOf(layer, "name"));
      }
    }
  }

  // The calls of a layer; leaves those of Keras 3 as they are.
  absl::Status Convert(Value& layer, const Path& path) const {
    Value* const nodes = FindIn(layer, "inbound_nodes");
    if (nodes == nullptr || !nodes->is_list()) return absl::OkStatus();
    if (TextOf(layer, "class_name") == "TFOpLambda") {
      return ConvertOperation(layer, path);
    }
    const bool has_one_mode = HasOneMode(layer);
    for (Value& node : nodes->as_list()) {
      if (!node.is_list()) continue;
      ASSIGN_OR_RETURN(node, ConvertNode(node.as_list(), has_one_mode, path));
    }
    return absl::OkStatus();
  }

  // ["name", call, 0] of output_layers, or a list of such.
  void ConvertEnds(Value& ends) const {
    if (!ends.is_list()) return;
    Value::List& list = ends.as_list();
    const bool is_end = list.size() == 3 && list[0].is_string() &&
                        list[1].kind() == Value::Kind::kInt;
    if (!is_end) {
      for (Value& each : list) ConvertEnds(each);
    } else if (sequentials_.contains(list[0].as_string())) {
      list[1] = std::max<int64_t>(0, list[1].as_int() - 1);
    }
  }

 private:
  // The tensor of ["name", call, output, …]; a number for a constant; as it is
  // if it has another form, for the reader to refuse.
  Value Tensor(const Value& entry) const {
    if (!entry.is_list() || entry.as_list().size() < 3 ||
        !entry.as_list()[0].is_string()) {
      return entry;
    }
    const Value::List& list = entry.as_list();
    if (list[0].as_string() == kConstant) return list[2];
    Value call = list[1];
    if (call.kind() == Value::Kind::kInt && call.as_int() > 0 &&
        models_.contains(list[0].as_string())) {
      call = call.as_int() - 1;
    }
    return Value::Map{
        {"class_name", "__keras_tensor__"},
        {"config",
         Value::Map{{"keras_history", Value::List{list[0], call, list[2]}}}}};
  }

  static Value Keywords(const Value& entry) {
    return entry.is_list() && entry.as_list().size() > 3 ? entry.as_list()[3]
                                                         : Value(Value::Map{});
  }

  absl::StatusOr<Value> ConvertNode(const Value::List& entries,
                                    bool has_one_mode, const Path& path) const {
    Value::List tensors;
    for (const Value& entry : entries) tensors.push_back(Tensor(entry));
    const Value keywords =
        entries.empty() ? Value(Value::Map{}) : Keywords(entries[0]);
    const Value* const training =
        keywords.is_map() ? keywords.Find("training") : nullptr;
    const bool is_in_inference =
        training != nullptr && *training == Value(false) && has_one_mode;
    if (training != nullptr && !training->is_null() && !is_in_inference) {
      return NotSupported(
          path, absl::StrCat("calls with training=", Excerpt(*training),
                             " of layers that are trained or drop at random"));
    }
    Value::List arguments;
    if (tensors.size() == 1) {
      arguments = std::move(tensors);
    } else {
      arguments.push_back(std::move(tensors));
    }
    return Value(
        Value::Map{{"args", std::move(arguments)}, {"kwargs", keywords}});
  }

  // A TFOpLambda as an operation of two arguments.
  absl::Status ConvertOperation(Value& layer, const Path& path) const {
    // Copied, since new keys move the others.
    const Value::List nodes = layer["inbound_nodes"].as_list();
    const std::string function = TextOf(layer["config"], "function");
    const auto known =
        std::find_if(std::begin(kOperations), std::end(kOperations),
                     [&](const auto& each) { return each.first == function; });
    const Value keywords =
        nodes.size() == 1 ? Keywords(nodes[0]) : Value(Value::Map{});
    const Value* const y = keywords.is_map() ? keywords.Find("y") : nullptr;
    if (known == std::end(kOperations) || y == nullptr) {
      return NotSupported(path, absl::StrCat("calls of the function ",
                                             Excerpt(Value(function))));
    }
    layer["module"] = "keras.src.ops.numpy";
    layer["class_name"] = known->second;
    layer["registered_name"] = nullptr;
    layer["inbound_nodes"] = Value::List{
        Value::Map{{"args", Value::List{Tensor(nodes[0]), Tensor(*y)}},
                   {"kwargs", Value::Map{}}}};
    return absl::OkStatus();
  }

  std::set<std::string> models_;
  std::set<std::string> sequentials_;
};

// The calls in a model and in the models in it.
absl::Status ConvertCalls(Value& model, const Path& path) {
  Value* const config = FindIn(model, "config");
  Value* const layers = config == nullptr ? nullptr : FindIn(*config, "layers");
  if (layers == nullptr || !layers->is_list()) return absl::OkStatus();
  const CallConverter calls(layers->as_list());
  const Path layers_path = path.Key("config").Key("layers");
  for (size_t i = 0; i < layers->as_list().size(); ++i) {
    Value& layer = layers->as_list()[i];
    if (!layer.is_map()) continue;
    if (IsModelClass(TextOf(layer, "class_name"))) {
      RETURN_IF_ERROR(ConvertCalls(layer, layers_path.Index(i)));
    }
    RETURN_IF_ERROR(calls.Convert(layer, layers_path.Index(i)));
  }
  if (Value* const ends = FindIn(*config, "output_layers"); ends != nullptr) {
    calls.ConvertEnds(*ends);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertFromKeras2(Value& config, const Path& path) {
  if (!IsOfKeras2(config)) return absl::OkStatus();
  RETURN_IF_ERROR(CheckActivations(config, path));
  ConvertObjects(config);
  return ConvertCalls(config, path);
}

}  // namespace paceline
