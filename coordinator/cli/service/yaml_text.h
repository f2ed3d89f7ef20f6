// JSON as YAML, for people.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_YAML_TEXT_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_YAML_TEXT_H_

#include <string>

#include "nlohmann/json.hpp"

namespace paceline {

// The value in YAML's block style, with a line break at the end. Strings that
// YAML would take for something else are quoted.
std::string YamlText(const nlohmann::ordered_json& json);

// The value as indented JSON, with a line break at the end. Invalid UTF-8 is
// replaced.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_YAML_TEXT_H_
