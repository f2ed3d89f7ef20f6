#include "common/optimizer/make_schedule.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
#include "common/optimizer/schedules/exponential_decay.h"

namespace paceline {
namespace {

using SchedulePtr = std::shared_ptr<const Schedule>;

// The registry of schedules.
const std::vector<ClassEntry<SchedulePtr>>& ScheduleEntries() {
  static const auto& entries = *new std::vector<ClassEntry<SchedulePtr>>{
      ClassEntryOf<SchedulePtr, ExponentialDecay>(),
  };
  return entries;
}

// The schedules of Keras 3. Those without an entry get an error "not supported
// yet".
constexpr const char* kKerasSchedules[] = {
    "CosineDecay",      "CosineDecayRestarts",    "ExponentialDecay",
    "InverseTimeDecay", "PiecewiseConstantDecay", "PolynomialDecay",
};

}  // namespace

absl::StatusOr<SchedulePtr> MakeSchedule(const KerasObject& object,
                                         const Path& path) {
  const std::string& name = object.class_name;
  std::vector<std::string> supported;
  for (const ClassEntry<SchedulePtr>& entry : ScheduleEntries()) {
    if (entry.class_name == name) return entry.read(object.config, path);
    supported.push_back(entry.class_name);
  }
  for (const char* const known : kKerasSchedules) {
    if (known != name) continue;
    return ClassError(path, name, absl::StrCat(name, " is not supported yet"),
                      absl::StatusCode::kUnimplemented);
  }
  return UnknownClass(path, "schedule", name, supported);
}

Value Serialize(const Schedule& schedule) {
  return SerializeByEntry("keras.optimizers.schedules", ScheduleEntries(),
                          schedule);
}

std::vector<ClassReference> ScheduleReferences() {
  return ReferencesOf(ScheduleEntries());
}

}  // namespace paceline
