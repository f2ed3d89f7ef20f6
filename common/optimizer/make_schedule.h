// Creates schedules from configs.
#ifndef PACELINE_COMMON_OPTIMIZER_MAKE_SCHEDULE_H_
#define PACELINE_COMMON_OPTIMIZER_MAKE_SCHEDULE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/optimizer/schedule.h"

namespace paceline {

class Path;
class Value;
struct ClassReference;
struct KerasObject;

// The schedule that a Keras object describes, checked by the field table of its
// class. Errors have their path below `path`.
absl::StatusOr<std::shared_ptr<const Schedule>> MakeSchedule(
    const KerasObject& object, const Path& path);

// In Keras' serialised form.
Value Serialize(const Schedule& schedule);

// The references of all schedules, by class name.
std::vector<ClassReference> ScheduleReferences();

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_MAKE_SCHEDULE_H_
