#include "common/optimizer/optimizer.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/suggestion.h"
#include "common/optimizer/adam.h"
#include "common/optimizer/sgd.h"

namespace paceline {
namespace {

using OptimizerOr = absl::StatusOr<std::unique_ptr<const Optimizer>>;

template <typename T>
OptimizerOr Read(const Value& config, const Path& path) {
  ASSIGN_OR_RETURN(T optimizer, T::Fields().Read(config, path));
  return std::make_unique<const T>(std::move(optimizer));
}

struct OptimizerClass {
  const char* name;
  // Null: one of Keras' that is not supported yet.
  OptimizerOr (*read)(const Value& config, const Path& path);
};

constexpr OptimizerClass kClasses[] = {
    {"Adam", Read<Adam>},  {"SGD", Read<Sgd>},
    {"AdamW", nullptr},    {"RMSprop", nullptr},
    {"Adagrad", nullptr},  {"Ftrl", nullptr},
    {"Adadelta", nullptr}, {"Adamax", nullptr},
    {"Nadam", nullptr},    {"Lion", nullptr},
    {"Lamb", nullptr},     {"Adafactor", nullptr},
    {"Muon", nullptr},     {"LossScaleOptimizer", nullptr},
};

}  // namespace

OptimizerOr MakeOptimizer(const v1::KerasObject& object) {
  const Path path("optimizer");
  std::vector<std::string> supported;
  for (const OptimizerClass& each : kClasses) {
    if (each.read != nullptr) supported.push_back(each.name);
    // Keras does not mind case here: "adam" is Adam.
    if (!absl::EqualsIgnoreCase(each.name, object.class_name())) continue;
    if (each.read == nullptr) {
      return ConfigError(path, absl::StrCat(each.name, " is not supported yet"),
                         absl::StatusCode::kUnimplemented);
    }
    return each.read(FromProto(object).config, path);
  }
  return ConfigError(
      path, absl::StrCat("unknown optimizer \"", object.class_name(), "\"",
                         Suggestion(object.class_name(), supported)));
}

}  // namespace paceline
