#include "common/config/proto_value.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Up to this magnitude a double represents every whole number.
constexpr int64_t kMaxWhole = int64_t{1} << 53;

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
  // The keys of a Struct have no order, so sort them for a stable output.
  const std::map<std::string, google::protobuf::Value> sorted(
      proto.fields().begin(), proto.fields().end());
  Value::Map map;
  for (const auto& [key, value] : sorted) {
    map.push_back({key, ValueFromProto(value)});
  }
  return map;
}

absl::Status CheckWholeNumbers(const Value& value, const Path& path) {
  switch (value.kind()) {
    case Value::Kind::kInt:
      if (value.as_int() > kMaxWhole || value.as_int() < -kMaxWhole) {
        return ConfigError(
            path, absl::StrCat("must be within 2^53, got ", value.as_int()));
      }
      return absl::OkStatus();
    case Value::Kind::kList:
      for (size_t i = 0; i < value.as_list().size(); ++i) {
        RETURN_IF_ERROR(CheckWholeNumbers(value.as_list()[i], path.Index(i)));
      }
      return absl::OkStatus();
    case Value::Kind::kMap:
      for (const Value::Entry& entry : value.as_map()) {
        RETURN_IF_ERROR(CheckWholeNumbers(entry.value, path.Key(entry.key)));
      }
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
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
