#include "common/config/class_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "common/config/suggestion.h"

namespace paceline {

absl::Status ClassError(const Path& path, absl::string_view class_name,
                        absl::string_view message, absl::StatusCode code) {
  absl::Status error = ConfigError(path, message, code);
  // Makes Locate look for the line of the class; the message keeps `path`.
  ConfigError(path.Key(class_name), message)
      .ForEachPayload([&](absl::string_view name, const absl::Cord& payload) {
        error.SetPayload(name, payload);
      });
  return error;
}

absl::Status UnknownClass(const Path& path, absl::string_view kind,
                          absl::string_view class_name,
                          const std::vector<std::string>& known) {
  return ClassError(path, class_name,
                    absl::StrCat("unknown ", kind, " \"", class_name, "\"",
                                 Suggestion(class_name, known)));
}

}  // namespace paceline
