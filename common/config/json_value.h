// Converts between Value and nlohmann::json.
#ifndef PACELINE_COMMON_CONFIG_JSON_VALUE_H_
#define PACELINE_COMMON_CONFIG_JSON_VALUE_H_

#include "common/config/value.h"
#include "nlohmann/json.hpp"

namespace paceline {

Value ValueFromJson(const nlohmann::ordered_json& json);
nlohmann::ordered_json ToJson(const Value& value);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_JSON_VALUE_H_
