#include "common/optimizer/make_schedule.h"

#include <string>
#include <utility>

#include "common/base/status_macros.h"
#include "common/config/class_entry.h"
#include "common/config/class_error.h"
#include "common/config/field_table.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/references_of.h"
#include "common/optimizer/schedules/cosine_decay.h"
#include "common/optimizer/schedules/cosine_decay_restarts.h"
#include "common/optimizer/schedules/exponential_decay.h"
#include "common/optimizer/schedules/inverse_time_decay.h"
#include "common/optimizer/schedules/piecewise_constant_decay.h"
#include "common/optimizer/schedules/polynomial_decay.h"

namespace paceline {
namespace {

using SchedulePtr = std::shared_ptr<const Schedule>;

// The registry of schedules.
const std::vector<ClassEntry<SchedulePtr>>& ScheduleEntries() {
  static const auto& entries = *new std::vector<ClassEntry<SchedulePtr>>{
      ClassEntryOf<SchedulePtr, CosineDecay>(),
      ClassEntryOf<SchedulePtr, CosineDecayRestarts>(),
      ClassEntryOf<SchedulePtr, ExponentialDecay>(),
      ClassEntryOf<SchedulePtr, InverseTimeDecay>(),
      ClassEntryOf<SchedulePtr, PiecewiseConstantDecay>(),
      ClassEntryOf<SchedulePtr, PolynomialDecay>(),
  };
  return entries;
}

}  // namespace

absl::StatusOr<SchedulePtr> MakeSchedule(const KerasObject& object,
                                         const Path& path) {
  const std::string& name = object.class_name;
  std::vector<std::string> supported;
  for (const ClassEntry<SchedulePtr>& entry : ScheduleEntries()) {
    if (entry.class_name == name) return entry.read(object.config, path);
    supported.push_back(entry.class_name);
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
