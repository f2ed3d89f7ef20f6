#include "common/callback/update_frequency.h"

#include "common/base/status_macros.h"
#include "common/config/check.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {
namespace {

constexpr char kEpoch[] = "epoch";
constexpr char kBatch[] = "batch";

}  // namespace

std::optional<int64_t> UpdateFrequency::StepIn(const BatchEnd& group) const {
  if (steps == 0) return std::nullopt;
  const int64_t due = group.steps / steps * steps;
  if (due <= group.steps - group.count) return std::nullopt;
  return group.steps;
}

absl::Status ReadConfig(const Value& value, const Path& path,
                        UpdateFrequency& out) {
  out.steps = 0;
  if (value.is_string() && value.as_string() == kEpoch) return absl::OkStatus();
  if (value.is_string() && value.as_string() == kBatch) {
    out.steps = 1;
    return absl::OkStatus();
  }
  if (!value.is_number()) return WrongType(value, path, ConfigType(&out));
  RETURN_IF_ERROR(Codec<int64_t>::Read(value, path, out.steps));
  return Apply(AtLeast(1), value, path);
}

Value WriteConfig(const UpdateFrequency& frequency) {
  return frequency.steps == 0 ? Value(kEpoch) : Value(frequency.steps);
}

std::string ConfigType(const UpdateFrequency*) {
  return "epoch, batch or a number of steps";
}

}  // namespace paceline
