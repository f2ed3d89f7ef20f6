#include "common/optimizer/learning_rate.h"

#include "common/base/status_macros.h"
#include "common/config/check.h"
#include "common/config/codec.h"
#include "common/config/keras_object.h"
#include "common/optimizer/make_schedule.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        LearningRate& out) {
  if (value.is_map()) {
    ASSIGN_OR_RETURN(const KerasObject object, ReadKerasObject(value, path));
    ASSIGN_OR_RETURN(out.schedule, MakeSchedule(object, path));
    return absl::OkStatus();
  }
  out.schedule = nullptr;
  if (!Codec<double>::Read(value, path, out.value).ok()) {
    return WrongType(value, path, "a finite number or a schedule");
  }
  return Apply(AtLeast(0), value, path);
}

Value WriteConfig(const LearningRate& learning_rate) {
  if (learning_rate.schedule == nullptr) {
    return static_cast<float>(learning_rate.value);
  }
  return Serialize(*learning_rate.schedule);
}

std::string ConfigType(const LearningRate*) { return "number or schedule"; }

}  // namespace paceline
