#include "common/model/keras_fields.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

// The dtype's name: the value itself, or that in a DTypePolicy object.
const Value* DtypeName(const Value& value) {
  if (!value.is_map()) return &value;
  const Value* config = value.Find("config");
  return config != nullptr && config->is_map() ? config->Find("name") : nullptr;
}

}  // namespace

FixedField DtypeField() {
  FieldInfo info{.key = "dtype",
                 .type = "only \"float32\"",
                 .expectation = "",
                 .help = "Type of the computation."};
  auto read = [](const Value& value, const Path& path) {
    const Value* name = DtypeName(value);
    if (name != nullptr && (name->is_null() || *name == Value("float32"))) {
      return absl::OkStatus();
    }
    return ConfigError(
        path,
        absl::StrCat(Excerpt(value), " is not supported yet; only float32 is"),
        absl::StatusCode::kUnimplemented);
  };
  return {std::move(info), std::move(read), Value("float32")};
}

Field<Layer> ActivityRegularizerField() {
  Field<Layer> field = WrittenAs<Layer>(
      [](const Layer& layer) -> std::optional<Value> {
        const Regularizer& regularizer = layer.activity_regularizer;
        if (regularizer.class_name.empty()) return std::nullopt;
        return WriteConfig(regularizer);
      },
      Optional("activity_regularizer", &Layer::activity_regularizer,
               "Penalty on the output."));
  field.info.default_text = "null";
  return field;
}

Field<Layer> NullActivityRegularizerField() {
  Field<Layer> field = WrittenAs<Layer>(
      [](const Layer& layer) -> std::optional<Value> {
        if (!layer.activity_regularizer.class_name.empty()) return std::nullopt;
        return Value();
      },
      Optional("activity_regularizer", &Layer::activity_regularizer,
               "Penalty on the output."));
  field.info.is_documented = false;
  return field;
}

}  // namespace paceline
