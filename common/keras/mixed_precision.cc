#include "common/keras/mixed_precision.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/keras/config_keys.h"
#include "common/optimizer/loss_scaling.h"

namespace paceline {
namespace {

constexpr char kDtypeKey[] = "dtype";

// The name of a policy: the value itself, or that in an object.
std::string PolicyName(const Value& dtype) {
  if (dtype.is_string()) return dtype.as_string();
  const Value* const config = dtype.is_map() ? dtype.Find("config") : nullptr;
  return config == nullptr ? "" : TextOf(*config, "name");
}

bool IsMixed(absl::string_view policy) {
  return policy == "mixed_float16" || policy == "mixed_bfloat16";
}

// `policy`: of the layers before.
absl::Status TakePolicies(Value& value, const Path& path, std::string& policy) {
  if (value.is_list()) {
    for (size_t i = 0; i < value.as_list().size(); ++i) {
      RETURN_IF_ERROR(TakePolicies(value.as_list()[i], path.Index(i), policy));
    }
  }
  if (!value.is_map()) return absl::OkStatus();
  for (Value::Entry& entry : value.as_map()) {
    const std::string name =
        entry.key == kDtypeKey ? PolicyName(entry.value) : "";
    if (!IsMixed(name)) {
      RETURN_IF_ERROR(TakePolicies(entry.value, path.Key(entry.key), policy));
      continue;
    }
    if (!policy.empty() && policy != name) {
      return ConfigError(path.Key(kDtypeKey),
                         absl::StrCat(name, " is not supported beside ", policy,
                                      " of another layer; expected one"),
                         absl::StatusCode::kUnimplemented);
    }
    policy = name;
    entry.value = Value("float32");
  }
  return absl::OkStatus();
}

bool IsDefault(const Value* value, double expected) {
  return value == nullptr ||
         (value->is_number() && value->as_double() == expected);
}

}  // namespace

absl::StatusOr<std::string> TakeMixedPolicy(Value& config, const Path& path) {
  std::string policy;
  RETURN_IF_ERROR(TakePolicies(config, path, policy));
  return policy;
}

absl::StatusOr<Value> UnwrapLossScale(const Value& optimizer,
                                      const Path& path) {
  const std::string name = TextOf(optimizer, "class_name");
  const Value* const config =
      optimizer.is_map() ? optimizer.Find("config") : nullptr;
  // The second is what Keras 2 writes.
  if ((name != LossScaling::kClassName && name != "LossScaleOptimizerV3") ||
      config == nullptr) {
    return optimizer;
  }
  const Path config_path = path.Key("config");
  const Value* const inner =
      config->is_map() ? config->Find("inner_optimizer") : nullptr;
  if (inner == nullptr || !inner->is_map()) {
    return ConfigError(config_path.Key("inner_optimizer"),
                       "missing; expected the optimizer");
  }
  const Value* const dynamic = config->Find("dynamic");
  if (dynamic != nullptr && *dynamic == Value(false)) {
    return ConfigError(config_path.Key("dynamic"),
                       "a fixed loss scale is not supported; expected true",
                       absl::StatusCode::kUnimplemented);
  }
  const Value* const scale = config->Find("initial_scale");
  const Value* const steps = config->Find("dynamic_growth_steps");
  if (IsDefault(scale, LossScaling::kInitialScale) &&
      IsDefault(steps, LossScaling::kGrowthSteps)) {
    return *inner;
  }
  Value::Map settings = {{"inner_optimizer", *inner}};
  if (scale != nullptr) settings.push_back({"initial_scale", *scale});
  if (steps != nullptr) settings.push_back({"dynamic_growth_steps", *steps});
  return Value(Value::Map{{"class_name", LossScaling::kClassName},
                          {"config", std::move(settings)}});
}

}  // namespace paceline
