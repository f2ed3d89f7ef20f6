#include "common/model/layers/wrapped_layer.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/model/keras_names.h"
#include "common/model/make_layer.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        std::shared_ptr<Layer>& out) {
  ASSIGN_OR_RETURN(const KerasObject object, ReadKerasObject(value, path));
  ASSIGN_OR_RETURN(out, MakeLayer(object, path));
  if (out->name.empty()) out->name = ToSnakeCase(out->class_name());
  return absl::OkStatus();
}

Value WriteConfig(const std::shared_ptr<Layer>& layer) {
  return layer == nullptr ? Value() : Serialize(*layer);
}

std::string ConfigType(const std::shared_ptr<Layer>*) { return "layer"; }

std::vector<VariableSpec> WrappedVariables(absl::string_view prefix,
                                           const Layer& layer,
                                           absl::Span<const Shape> inputs) {
  std::vector<VariableSpec> variables = layer.Variables(inputs);
  for (VariableSpec& variable : variables) {
    variable.name = absl::StrCat(prefix, "/", variable.name);
    if (!layer.trainable) Freeze(variable);
  }
  return variables;
}

absl::Status CheckUnpenalized(const Layer& layer, const Path& path) {
  if (layer.output_penalty().is_zero()) return absl::OkStatus();
  return ConfigError(
      path,
      absl::StrCat("a penalty on the output of ", layer.class_name(),
                   " is not supported in another layer; expected an "
                   "activity_regularizer of the outer layer"),
      absl::StatusCode::kUnimplemented);
}

}  // namespace paceline
