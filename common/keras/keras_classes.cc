#include "common/keras/keras_classes.h"

#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/keras/config_keys.h"

namespace paceline {

absl::Status CheckIsOfKeras(const Value& value, const Path& path) {
  if (value.is_list()) {
    for (size_t i = 0; i < value.as_list().size(); ++i) {
      RETURN_IF_ERROR(CheckIsOfKeras(value.as_list()[i], path.Index(i)));
    }
  }
  // A Lambda is refused as such, whatever its function is.
  if (!value.is_map() || TextOf(value, "class_name") == "Lambda") {
    return absl::OkStatus();
  }
  const std::string registered = TextOf(value, "registered_name");
  const std::string module = TextOf(value, "module");
  const bool is_registered = absl::StrContains(registered, ">");
  const bool is_foreign = !module.empty() && module != "keras" &&
                          module != "builtins" &&
                          !absl::StartsWith(module, "keras.");
  if (is_registered || is_foreign) {
    const std::string name =
        is_registered ? registered
                      : absl::StrCat(module, ".", TextOf(value, "class_name"));
    return ConfigError(path,
                       absl::StrCat("the class ", Excerpt(Value(name)),
                                    " is none of Keras', and its code is not "
                                    "in the file"),
                       absl::StatusCode::kUnimplemented);
  }
  for (const Value::Entry& entry : value.as_map()) {
    RETURN_IF_ERROR(CheckIsOfKeras(entry.value, path.Key(entry.key)));
  }
  return absl::OkStatus();
}

}  // namespace paceline
