#include "common/optimizer/learning_rate.h"

#include "common/base/status_macros.h"
#include "common/config/check.h"
#include "common/config/codec.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        LearningRate& out) {
  if (value.is_map()) {
    return ConfigError(path,
                       "schedules are not supported yet; expected a number",
                       absl::StatusCode::kUnimplemented);
  }
  RETURN_IF_ERROR(Codec<double>::Read(value, path, out.value));
  return Apply(AtLeast(0), value, path);
}

Value WriteConfig(const LearningRate& learning_rate) {
  return learning_rate.value;
}

std::string ConfigType(const LearningRate*) { return "number"; }

}  // namespace paceline
