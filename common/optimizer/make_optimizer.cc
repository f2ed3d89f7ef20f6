#include "common/optimizer/make_optimizer.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/references_of.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

using OptimizerPtr = std::unique_ptr<Optimizer>;

template <typename... Each>
std::vector<ClassEntry<OptimizerPtr>> EntriesOf(
    OptimizerList<Each...> /*list*/) {
  return {ClassEntryOf<OptimizerPtr, Each>()...};
}

const std::vector<ClassEntry<OptimizerPtr>>& OptimizerEntries() {
  static const auto& entries =
      *new std::vector<ClassEntry<OptimizerPtr>>(EntriesOf(Optimizers()));
  return entries;
}

// The optimizers of Keras 3. Those without an entry get an error "not supported
// yet".
constexpr const char* kKerasClasses[] = {"Adadelta", "Adafactor",
                                         "Adagrad",  "Adam",
                                         "AdamW",    "Adamax",
                                         "Ftrl",     "Lamb",
                                         "Lion",     "Muon",
                                         "Nadam",    "RMSprop",
                                         "SGD",      "ScheduleFreeAdamW"};

}  // namespace

absl::StatusOr<OptimizerPtr> MakeOptimizer(const v1::KerasObject& object) {
  const Path path("optimizer");
  const std::string& name = object.class_name();
  std::vector<std::string> supported;
  for (const ClassEntry<OptimizerPtr>& entry : OptimizerEntries()) {
    // As in Keras, case does not matter here: "adam" is Adam.
    if (absl::EqualsIgnoreCase(entry.class_name, name)) {
      return entry.read(FromProto(object).config, path);
    }
    supported.push_back(entry.class_name);
  }
  if (absl::StartsWithIgnoreCase(name, "LossScaleOptimizer")) {
    return ClassError(path, name,
                      "expected the optimizer in it, and precision: "
                      "mixed_float16, which scales the loss",
                      absl::StatusCode::kUnimplemented);
  }
  for (const char* const known : kKerasClasses) {
    if (!absl::EqualsIgnoreCase(known, name)) continue;
    return ClassError(path, name, absl::StrCat(known, " is not supported yet"),
                      absl::StatusCode::kUnimplemented);
  }
  return UnknownClass(path, "optimizer", name, supported);
}

Value Serialize(const Optimizer& optimizer) {
  return SerializeByEntry("keras.optimizers", OptimizerEntries(), optimizer);
}

std::vector<ClassReference> OptimizerReferences() {
  return ReferencesOf(OptimizerEntries());
}

}  // namespace paceline
