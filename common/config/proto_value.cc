#include "common/config/proto_value.h"

#include <cmath>
#include <map>
#include <string>

namespace paceline {
namespace {

// Largest magnitude up to which every whole number is a double.
constexpr double kMaxWhole = 9007199254740992.0;

}  // namespace

Value ValueFromProto(const google::protobuf::Value& proto) {
  switch (proto.kind_case()) {
    case google::protobuf::Value::kBoolValue:
      return proto.bool_value();
    case google::protobuf::Value::kNumberValue: {
      const double number = proto.number_value();
      if (std::abs(number) <= kMaxWhole && number == std::trunc(number)) {
        return static_cast<int64_t>(number);
      }
      return number;
    }
    case google::protobuf::Value::kStringValue:
      return proto.string_value();
    case google::protobuf::Value::kListValue: {
      Value::List list;
      for (const auto& element : proto.list_value().values()) {
        list.push_back(ValueFromProto(element));
      }
      return list;
    }
    case google::protobuf::Value::kStructValue:
      return ValueFromProto(proto.struct_value());
    case google::protobuf::Value::kNullValue:
    case google::protobuf::Value::KIND_NOT_SET:
      break;
  }
  return nullptr;
}

Value ValueFromProto(const google::protobuf::Struct& proto) {
  // A Struct has no order of its own: keys are sorted, for steady output.
  const std::map<std::string, google::protobuf::Value> sorted(
      proto.fields().begin(), proto.fields().end());
  Value::Map map;
  for (const auto& [key, value] : sorted) {
    map.push_back({key, ValueFromProto(value)});
  }
  return map;
}

google::protobuf::Value ToProtoValue(const Value& value) {
  google::protobuf::Value proto;
  switch (value.kind()) {
    case Value::Kind::kNull:
      proto.set_null_value(google::protobuf::NULL_VALUE);
      break;
    case Value::Kind::kBool:
      proto.set_bool_value(value.as_bool());
      break;
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      proto.set_number_value(value.as_double());
      break;
    case Value::Kind::kString:
      proto.set_string_value(value.as_string());
      break;
    case Value::Kind::kList:
      proto.mutable_list_value();
      for (const Value& element : value.as_list()) {
        *proto.mutable_list_value()->add_values() = ToProtoValue(element);
      }
      break;
    case Value::Kind::kMap:
      *proto.mutable_struct_value() = ToProtoStruct(value);
      break;
  }
  return proto;
}

google::protobuf::Struct ToProtoStruct(const Value& map) {
  google::protobuf::Struct proto;
  for (const Value::Entry& entry : map.as_map()) {
    (*proto.mutable_fields())[entry.key] = ToProtoValue(entry.value);
  }
  return proto;
}

}  // namespace paceline
