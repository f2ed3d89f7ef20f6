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
constexpr absl::string_view kMeaningless[] = {
    "is_legacy_optimizer", "jit_compile", "fn", "input_length"};
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

// Whether no variable of a layer or model is trained.
bool IsFrozen(const Value& layer) {
  const Value* const config = layer.is_map() ? layer.Find("config") : nullptr;
  if (config == nullptr || !config->is_map()) return false;
  const Value* const trainable = config->Find("trainable");
  if (trainable != nullptr && *trainable == Value(false)) return true;
  const Value* const layers = config->Find("layers");
  return TextOf(layer, "class_name") == "InputLayer" ||
         (layers != nullptr && layers->is_list() &&
          std::all_of(layers->as_list().begin(), layers->as_list().end(),
                      IsFrozen));
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
    for (Value& node : nodes->as_list()) {
      if (!node.is_list()) continue;
      if (TextOf(layer, "class_name") == "TFOpLambda") {
        ConvertOperation(layer, node);
        return absl::OkStatus();
      }
      ASSIGN_OR_RETURN(node, ConvertNode(layer, node.as_list(), path));
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

  absl::StatusOr<Value> ConvertNode(const Value& layer,
                                    const Value::List& entries,
                                    const Path& path) const {
    Value::List tensors;
    for (const Value& entry : entries) tensors.push_back(Tensor(entry));
    const Value keywords =
        entries.empty() ? Value(Value::Map{}) : Keywords(entries[0]);
    const Value* const training =
        keywords.is_map() ? keywords.Find("training") : nullptr;
    if (training != nullptr && *training == Value(false) && !IsFrozen(layer)) {
      return NotSupported(path,
                          "layers that are trained but called with "
                          "training=False");
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

  // A TFOpLambda of two arguments; leaves others, whose class nobody knows.
  void ConvertOperation(Value& layer, const Value& node) const {
    const std::string function = TextOf(layer["config"], "function");
    const auto known =
        std::find_if(std::begin(kOperations), std::end(kOperations),
                     [&](const auto& each) { return each.first == function; });
    const Value keywords = Keywords(node);
    const Value* const y = keywords.is_map() ? keywords.Find("y") : nullptr;
    if (known == std::end(kOperations) || y == nullptr) return;
    layer["module"] = "keras.src.ops.numpy";
    layer["class_name"] = known->second;
    layer["registered_name"] = nullptr;
    layer["inbound_nodes"] =
        Value::List{Value::Map{{"args", Value::List{Tensor(node), Tensor(*y)}},
                               {"kwargs", Value::Map{}}}};
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
  ConvertObjects(config);
  return ConvertCalls(config, path);
}

}  // namespace paceline
