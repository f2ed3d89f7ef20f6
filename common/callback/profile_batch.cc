#include "common/callback/profile_batch.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/limits.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        ProfileBatch& out) {
  const Value::List single = {value};
  const Value::List& steps = value.is_list() ? value.as_list() : single;
  if (steps.size() != (value.is_list() ? 2 : 1) || !steps[0].is_number() ||
      !steps.back().is_number()) {
    return WrongType(value, path, ConfigType(&out));
  }
  RETURN_IF_ERROR(Codec<int64_t>::Read(steps[0], path, out.first));
  RETURN_IF_ERROR(Codec<int64_t>::Read(steps.back(), path, out.last));
  const bool is_off = out.first == 0 && out.last == 0;
  if (is_off || (1 <= out.first && out.first <= out.last &&
                 out.last <= limits::kMaxSteps)) {
    return absl::OkStatus();
  }
  return ConfigError(
      path, absl::StrCat("got ", Excerpt(value),
                         "; expected 0, the number of a step, from 1, or a "
                         "pair [first, last] of such, the first not after the "
                         "last"));
}

Value WriteConfig(const ProfileBatch& profile) {
  if (profile.first == profile.last) return profile.first;
  return Value::List{profile.first, profile.last};
}

std::string ConfigType(const ProfileBatch*) { return "step or pair of steps"; }

}  // namespace paceline
