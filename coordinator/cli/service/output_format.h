// The option -o of the verbs that show something.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_OUTPUT_FORMAT_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_OUTPUT_FORMAT_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/service/yaml_text.h"

namespace paceline {

// `format` has the default.
inline void AddFormat(CLI::App& app, const std::vector<std::string>& formats,
                      std::string& format) {
  app.add_option(
         "-o", format,
         absl::StrCat("What is printed: ", absl::StrJoin(formats, ", "), "."))
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
}

// For the formats "json" and "yaml".
inline std::string ObjectText(const std::string& format,
                              const nlohmann::ordered_json& json) {
  return format == "json" ? JsonText(json) : YamlText(json);
}

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_OUTPUT_FORMAT_H_
