#include "common/optimizer/optimizer.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
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
  // Both null: one of Keras' that is not supported yet.
  OptimizerOr (*read)(const Value& config, const Path& path);
  ClassReference (*reference)();
};

template <typename T>
constexpr OptimizerClass ClassOf(const char* name) {
  return {name, Read<T>, [] { return T::Fields().Reference(); }};
}

constexpr OptimizerClass NotYetClass(const char* name) {
  return {name, nullptr, nullptr};
}

constexpr OptimizerClass kClasses[] = {
    ClassOf<Adam>("Adam"),   ClassOf<Sgd>("SGD"),
    NotYetClass("AdamW"),    NotYetClass("RMSprop"),
    NotYetClass("Adagrad"),  NotYetClass("Ftrl"),
    NotYetClass("Adadelta"), NotYetClass("Adamax"),
    NotYetClass("Nadam"),    NotYetClass("Lion"),
    NotYetClass("Lamb"),     NotYetClass("Adafactor"),
    NotYetClass("Muon"),     NotYetClass("LossScaleOptimizer"),
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
      return ClassError(path, object.class_name(),
                        absl::StrCat(each.name, " is not supported yet"),
                        absl::StatusCode::kUnimplemented);
    }
    return each.read(FromProto(object).config, path);
  }
  return UnknownClass(path, "optimizer", object.class_name(), supported);
}

std::vector<ClassReference> OptimizerReferences() {
  std::vector<ClassReference> references;
  for (const OptimizerClass& each : kClasses) {
    if (each.reference != nullptr) references.push_back(each.reference());
  }
  return references;
}

}  // namespace paceline
