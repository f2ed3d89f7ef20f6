#include "common/model/initializer.h"

#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
#include "common/config/value.h"
#include "common/model/initializers/constant.h"
#include "common/model/initializers/orthogonal.h"
#include "common/model/initializers/random.h"
#include "common/model/initializers/variance_scaling.h"
#include "common/model/keras_names.h"

namespace paceline {
namespace {

using InitializerPtr = std::shared_ptr<const Initializer>;

const std::vector<ClassEntry<InitializerPtr>>& InitializerEntries() {
  static const auto& entries = *[] {
    auto* list = new std::vector<ClassEntry<InitializerPtr>>;
    for (const auto& table : Constant::Tables()) {
      list->push_back(ClassEntryOf<InitializerPtr>(table));
    }
    for (const auto& table : VarianceScaling::Tables()) {
      list->push_back(ClassEntryOf<InitializerPtr>(table));
    }
    list->push_back(ClassEntryOf<InitializerPtr, Orthogonal>());
    list->push_back(ClassEntryOf<InitializerPtr, RandomUniform>());
    list->push_back(ClassEntryOf<InitializerPtr, RandomNormal>());
    list->push_back(ClassEntryOf<InitializerPtr, TruncatedNormal>());
    return list;
  }();
  return entries;
}

// The name that all releases of Keras 3 read, and most write; some do not read
// "Orthogonal".
constexpr char kOrthogonalAlias[] = "OrthogonalInitializer";

// Resolves Keras' aliases.
absl::string_view Unaliased(absl::string_view name) {
  if (name == "zero") return "Zeros";
  if (name == "one") return "Ones";
  if (name == "uniform") return "RandomUniform";
  if (name == "normal") return "RandomNormal";
  if (name == kOrthogonalAlias || name == ToSnakeCase(kOrthogonalAlias)) {
    return "Orthogonal";
  }
  return name;
}

}  // namespace

RandomKey VariableKey(uint64_t seed, absl::string_view variable_name) {
  return {.seed = seed, .stream = StableHash(variable_name)};
}

InitializerPtr DefaultEmbeddingsInitializer() {
  static const auto& uniform =
      *new InitializerPtr(std::make_shared<const RandomUniform>());
  return uniform;
}

InitializerPtr DefaultKernelInitializer() {
  static const auto& glorot =
      *new InitializerPtr(std::make_shared<const VarianceScaling>(
          VarianceScaling::Named("GlorotUniform")));
  return glorot;
}

InitializerPtr ZerosInitializer() {
  static const auto& zeros = *new InitializerPtr(
      std::make_shared<const Constant>(Constant::Named("Zeros")));
  return zeros;
}

InitializerPtr OnesInitializer() {
  static const auto& ones = *new InitializerPtr(
      std::make_shared<const Constant>(Constant::Named("Ones")));
  return ones;
}

InitializerPtr OrthogonalInitializer() {
  static const auto& orthogonal =
      *new InitializerPtr(std::make_shared<const Orthogonal>());
  return orthogonal;
}

absl::Status ReadConfig(const Value& value, const Path& path,
                        InitializerPtr& out) {
  ASSIGN_OR_RETURN(const KerasObject object, ReadKerasObject(value, path));
  const absl::string_view name = Unaliased(object.class_name);
  std::vector<std::string> known;
  for (const ClassEntry<InitializerPtr>& entry : InitializerEntries()) {
    if (name == entry.class_name || name == ToSnakeCase(entry.class_name)) {
      ASSIGN_OR_RETURN(out, entry.read(object.config, path));
      return absl::OkStatus();
    }
    known.push_back(entry.class_name);
  }
  return UnknownClass(path, "initializer", object.class_name, known);
}

std::vector<ClassReference> InitializerReferences() {
  return ReferencesOf(InitializerEntries());
}

Value WriteConfig(const InitializerPtr& initializer) {
  Value object = SerializeByEntry("keras.initializers", InitializerEntries(),
                                  *initializer);
  Value& name = object["class_name"];
  if (name == Value("Orthogonal")) name = kOrthogonalAlias;
  return object;
}

std::string ConfigType(const InitializerPtr*) { return "initializer"; }

}  // namespace paceline
