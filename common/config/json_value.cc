#include "common/config/json_value.h"

#include <cstdint>
#include <string>

namespace paceline {

Value ValueFromJson(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return json.get<bool>();
  // Numbers above int64 become doubles.
  if (json.is_number_integer() &&
      !(json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX)) {
    return json.get<int64_t>();
  }
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    Value::List list;
    for (const auto& element : json) list.push_back(ValueFromJson(element));
    return list;
  }
  if (json.is_object()) {
    Value::Map map;
    for (const auto& [key, element] : json.items()) {
      map.push_back({key, ValueFromJson(element)});
    }
    return map;
  }
  return nullptr;
}

nlohmann::ordered_json ToJson(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return nullptr;
    case Value::Kind::kBool:
      return value.as_bool();
    case Value::Kind::kInt:
      return value.as_int();
    case Value::Kind::kDouble:
      return value.as_double();
    case Value::Kind::kString:
      return value.as_string();
    case Value::Kind::kList: {
      auto array = nlohmann::ordered_json::array();
      for (const Value& element : value.as_list()) {
        array.push_back(ToJson(element));
      }
      return array;
    }
    case Value::Kind::kMap: {
      auto object = nlohmann::ordered_json::object();
      for (const Value::Entry& entry : value.as_map()) {
        object[entry.key] = ToJson(entry.value);
      }
      return object;
    }
  }
  return nullptr;
}

}  // namespace paceline
