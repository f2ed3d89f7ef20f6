// Keys of the configs of Keras files, which may have any type.
#ifndef PACELINE_COMMON_KERAS_CONFIG_KEYS_H_
#define PACELINE_COMMON_KERAS_CONFIG_KEYS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/config/value.h"

namespace paceline {

// The text of a key; "" if `map` is no map, or has no text there.
inline std::string TextOf(const Value& map, absl::string_view key) {
  const Value* text = map.is_map() ? map.Find(key) : nullptr;
  return text != nullptr && text->is_string() ? text->as_string() : "";
}

inline bool IsModelClass(absl::string_view class_name) {
  return class_name == "Sequential" || class_name == "Functional" ||
         class_name == "Model";
}

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_CONFIG_KEYS_H_
