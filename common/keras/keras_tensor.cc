#include "common/keras/keras_tensor.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "common/base/status_macros.h"
#include "common/keras/config_keys.h"
#include "common/limits.h"
#include "common/model/output_name.h"
#include "common/model/repeated_call.h"

namespace paceline {

absl::StatusOr<KerasHistory> ReadKerasHistory(const Value& value,
                                              const Path& path) {
  const auto is_index = [](const Value& number) {
    return number.kind() == Value::Kind::kInt && number.as_int() >= 0 &&
           number.as_int() <= limits::kMaxLayers;
  };
  if (!value.is_list() || value.as_list().size() != 3 ||
      !value.as_list()[0].is_string() || !is_index(value.as_list()[1]) ||
      !is_index(value.as_list()[2])) {
    return ConfigError(path, "expected [\"name\", 0, 0]");
  }
  const Value::List& list = value.as_list();
  return KerasHistory{list[0].as_string(), static_cast<int>(list[1].as_int()),
                      static_cast<int>(list[2].as_int())};
}

std::string NameOfCall(absl::string_view layer, int call) {
  return call == 0 ? std::string(layer) : RepeatedCallName(layer, call);
}

std::string NameOfTensor(const KerasHistory& history) {
  return NameOfOutput(NameOfCall(history.layer, history.call), history.output);
}

bool IsTensor(const Value& value) {
  return TextOf(value, "class_name") == "__keras_tensor__";
}

absl::StatusOr<KerasHistory> HistoryOfTensor(const Value& tensor,
                                             const Path& path) {
  const Value* config = tensor.Find("config");
  const Value* history = config != nullptr && config->is_map()
                             ? config->Find("keras_history")
                             : nullptr;
  return ReadKerasHistory(history == nullptr ? Value() : *history,
                          path.Key("config").Key("keras_history"));
}

const Value::Map& KeywordsOf(const Value& call) {
  static const auto& none = *new Value::Map();
  const Value* const keywords = call.is_map() ? call.Find("kwargs") : nullptr;
  return keywords != nullptr && keywords->is_map() ? keywords->as_map() : none;
}

bool IsOperation(const Value& entry) {
  const std::string module = TextOf(entry, "module");
  if (!module.empty()) return absl::StartsWith(module, "keras.src.ops.");
  // Legacy files have no modules. Layers have a key that operations lack.
  static constexpr absl::string_view kOperations[] = {
      "Any",      "Concatenate", "ExpandDims", "LogicalOr",
      "NotEqual", "OnesLike",    "ZerosLike"};
  const Value* const config = entry.is_map() ? entry.Find("config") : nullptr;
  return std::find(std::begin(kOperations), std::end(kOperations),
                   TextOf(entry, "class_name")) != std::end(kOperations) &&
         config != nullptr && config->is_map() &&
         config->Find("trainable") == nullptr;
}

}  // namespace paceline
