#include "common/optimizer/make_optimizer.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/references_of.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

using OptimizerOr = absl::StatusOr<std::unique_ptr<const Optimizer>>;

struct Entry {
  std::string class_name;
  OptimizerOr (*read)(const Value& config, const Path& path);
  ClassReference (*reference)();
};

template <typename O>
Entry EntryOf() {
  return {O::kClassName,
          [](const Value& config, const Path& path) -> OptimizerOr {
            ASSIGN_OR_RETURN(O optimizer, O::Fields().Read(config, path));
            return std::make_unique<const O>(std::move(optimizer));
          },
          [] { return O::Fields().Reference(); }};
}

template <typename... Each>
std::vector<Entry> EntriesOf(OptimizerList<Each...> /*list*/) {
  return {EntryOf<Each>()...};
}

const std::vector<Entry>& Entries() {
  static const auto& entries = *new std::vector<Entry>(EntriesOf(Optimizers()));
  return entries;
}

// Those of Keras 3; the ones without an entry are refused by name.
constexpr const char* kKerasClasses[] = {
    "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW",
    "Adamax",   "Ftrl",      "Lamb",    "Lion", "LossScaleOptimizer",
    "Muon",     "Nadam",     "RMSprop", "SGD",
};

}  // namespace

OptimizerOr MakeOptimizer(const v1::KerasObject& object) {
  const Path path("optimizer");
  const std::string& name = object.class_name();
  std::vector<std::string> supported;
  for (const Entry& entry : Entries()) {
    // Keras does not mind case here: "adam" is Adam.
    if (absl::EqualsIgnoreCase(entry.class_name, name)) {
      return entry.read(FromProto(object).config, path);
    }
    supported.push_back(entry.class_name);
  }
  for (const char* const known : kKerasClasses) {
    if (!absl::EqualsIgnoreCase(known, name)) continue;
    return ClassError(path, name, absl::StrCat(known, " is not supported yet"),
                      absl::StatusCode::kUnimplemented);
  }
  return UnknownClass(path, "optimizer", name, supported);
}

std::vector<ClassReference> OptimizerReferences() {
  return ReferencesOf(Entries());
}

}  // namespace paceline
