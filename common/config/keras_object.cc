#include "common/config/keras_object.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/proto_value.h"

namespace paceline {
namespace {

// Keys that Keras writes beside class_name and config, and that have no effect.
constexpr absl::string_view kOtherKeys[] = {
    "module",         "registered_name", "build_config",    "name",
    "compile_config", "inbound_nodes",   "shared_object_id"};

constexpr char kInputsKey[] = "inputs";
constexpr char kMaskedByKey[] = "masked_by";
constexpr char kUnmaskedKey[] = "unmasked";

absl::StatusOr<KerasObject> MakeObject(absl::string_view class_name,
                                       const Value* config, const Path& path) {
  KerasObject object{std::string(class_name)};
  if (class_name.empty()) return ConfigError(path, "the class name is empty");
  if (config == nullptr || config->is_null()) return object;
  if (!config->is_map()) {
    return WrongType(*config, path,
                     absl::StrCat("a map (the config of ", class_name, ")"));
  }
  object.config = *config;
  return object;
}

// A list of at least one name of a layer.
absl::Status ReadNames(const Value& value, const Path& path,
                       std::vector<std::string>& names) {
  RETURN_IF_ERROR(Codec<std::vector<std::string>>::Read(value, path, names));
  if (!names.empty()) return absl::OkStatus();
  return ConfigError(path, "expected the name of a layer, got an empty list");
}

}  // namespace

absl::StatusOr<KerasObject> ReadKerasObject(const Value& value,
                                            const Path& path) {
  if (value.is_string()) return MakeObject(value.as_string(), nullptr, path);
  if (!value.is_map() || value.as_map().empty()) {
    return WrongType(value, path, "a class name or a map {Class: {config}}");
  }
  const Value* class_name = value.Find("class_name");
  if (class_name == nullptr) {
    if (value.as_map().size() != 1) {
      return ConfigError(path,
                         absl::StrCat("expected one class, got a map of ",
                                      value.as_map().size(), " keys (",
                                      Excerpt(value.as_map()[0].key), ", ",
                                      Excerpt(value.as_map()[1].key),
                                      " ...); is the "
                                      "config indented below its class?"));
    }
    const Value::Entry& entry = value.as_map().front();
    return MakeObject(entry.key, &entry.value, path);
  }
  if (!class_name->is_string()) {
    return WrongType(*class_name, path.Key("class_name"), "a string");
  }
  for (const Value::Entry& entry : value.as_map()) {
    if (entry.key != "class_name" && entry.key != "config" &&
        std::find(std::begin(kOtherKeys), std::end(kOtherKeys), entry.key) ==
            std::end(kOtherKeys)) {
      return ConfigError(path.Key(entry.key),
                         "unknown key of a Keras object; expected class_name "
                         "and config");
    }
  }
  return MakeObject(class_name->as_string(), value.Find("config"), path);
}

absl::StatusOr<KerasObject> ReadLayerObject(const Value& value,
                                            const Path& path) {
  if (!value.is_map()) return ReadKerasObject(value, path);
  KerasObject beside;
  Value::Map rest;
  for (const Value::Entry& entry : value.as_map()) {
    if (entry.key == "input" && value.as_map().size() > 1) {
      return ConfigError(path.Key(entry.key),
                         "unknown key; did you mean \"inputs\"?");
    }
    if (entry.key == kUnmaskedKey) {
      RETURN_IF_ERROR(
          Codec<bool>::Read(entry.value, path.Key(entry.key), beside.unmasked));
    } else if (entry.key == kInputsKey || entry.key == kMaskedByKey) {
      RETURN_IF_ERROR(ReadNames(
          entry.value, path.Key(entry.key),
          entry.key == kInputsKey ? beside.inputs : beside.masked_by));
    } else {
      rest.push_back(entry);
    }
  }
  ASSIGN_OR_RETURN(KerasObject object, ReadKerasObject(rest, path));
  object.inputs = std::move(beside.inputs);
  object.masked_by = std::move(beside.masked_by);
  object.unmasked = beside.unmasked;
  return object;
}

Value WriteKerasObject(const KerasObject& object) {
  if (object.config.as_map().empty() && object.inputs.empty() &&
      object.masked_by.empty() && !object.unmasked) {
    return object.class_name;
  }
  Value::Map map = {{object.class_name, object.config}};
  using Names = Codec<std::vector<std::string>>;
  if (!object.inputs.empty()) {
    map.push_back({kInputsKey, Names::Write(object.inputs)});
  }
  if (!object.masked_by.empty()) {
    map.push_back({kMaskedByKey, Names::Write(object.masked_by)});
  }
  if (object.unmasked) map.push_back({kUnmaskedKey, true});
  return map;
}

Value SerializeKerasObject(absl::string_view module,
                           const KerasObject& object) {
  return Value::Map{{"module", module},
                    {"class_name", object.class_name},
                    {"config", object.config},
                    {"registered_name", nullptr}};
}

absl::StatusOr<v1::KerasObject> ToProto(const KerasObject& object,
                                        const Path& path) {
  RETURN_IF_ERROR(CheckWholeNumbers(object.config, path));
  v1::KerasObject proto;
  proto.set_class_name(object.class_name);
  *proto.mutable_config() = ToProtoStruct(object.config);
  proto.mutable_inputs()->Assign(object.inputs.begin(), object.inputs.end());
  proto.mutable_masked_by()->Assign(object.masked_by.begin(),
                                    object.masked_by.end());
  proto.set_unmasked(object.unmasked);
  return proto;
}

KerasObject FromProto(const v1::KerasObject& proto) {
  return {proto.class_name(),
          ValueFromProto(proto.config()),
          {proto.inputs().begin(), proto.inputs().end()},
          {proto.masked_by().begin(), proto.masked_by().end()},
          proto.unmasked()};
}

}  // namespace paceline
