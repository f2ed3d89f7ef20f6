// Strings that select variables by their names.
#ifndef PACELINE_COMMON_OPTIMIZER_NAME_PARTS_H_
#define PACELINE_COMMON_OPTIMIZER_NAME_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

class Path;
class Value;

// In a config: a list, or null, which is an empty list. Keras accepts regular
// expressions; expressions with special characters are Unimplemented here. See
// codec.h.
struct NameParts {
  std::vector<std::string> parts;

  // Whether one of the strings is a part of `name`.
  bool SelectsName(absl::string_view name) const;
};
absl::Status ReadConfig(const Value &value, const Path &path, NameParts &out);
Value WriteConfig(const NameParts &names);
std::string ConfigType(const NameParts *);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_NAME_PARTS_H_
