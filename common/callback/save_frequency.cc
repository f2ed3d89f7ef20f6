#include "common/callback/save_frequency.h"

#include "common/base/status_macros.h"
#include "common/config/check.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/limits.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        SaveFrequency& out) {
  out = SaveFrequency();
  if (value == Value("epoch")) return absl::OkStatus();
  if (!value.is_number()) return WrongType(value, path, ConfigType(&out));
  RETURN_IF_ERROR(Codec<int64_t>::Read(value, path, out.batches));
  return Apply(Between(1, static_cast<double>(limits::kMaxSteps)), value, path);
}

Value WriteConfig(const SaveFrequency& frequency) {
  return frequency.batches == 0 ? Value("epoch") : Value(frequency.batches);
}

std::string ConfigType(const SaveFrequency*) {
  return "`epoch` or number of batches";
}

}  // namespace paceline
