#include "common/optimizer/name_parts.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

bool NameParts::SelectsName(absl::string_view name) const {
  return std::any_of(parts.begin(), parts.end(), [&](const std::string &part) {
    return absl::StrContains(name, part);
  });
}

absl::Status ReadConfig(const Value &value, const Path &path, NameParts &out) {
  out.parts.clear();
  if (value.is_null()) return absl::OkStatus();
  RETURN_IF_ERROR(
      Codec<std::vector<std::string>>::Read(value, path, out.parts));
  for (size_t i = 0; i < out.parts.size(); ++i) {
    if (out.parts[i].find_first_of("\\^$.|?*+()[]{}") == std::string::npos) {
      continue;
    }
    return ConfigError(path.Index(i),
                       absl::StrCat("\"", out.parts[i],
                                    "\": patterns are not supported yet; "
                                    "expected a part of a variable's name"),
                       absl::StatusCode::kUnimplemented);
  }
  return absl::OkStatus();
}

Value WriteConfig(const NameParts &names) {
  return Codec<std::vector<std::string>>::Write(names.parts);
}

std::string ConfigType(const NameParts *) { return "list of strings or null"; }

}  // namespace paceline
