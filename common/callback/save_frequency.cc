#include "common/callback/save_frequency.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/limits.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path,
                        SaveFrequency& out) {
  out = SaveFrequency();
  if (value == Value("epoch")) return absl::OkStatus();
  constexpr int64_t kMost = limits::kMaxSteps;
  const absl::Status read = Codec<int64_t>::Read(value, path, out.batches);
  if (read.ok() && out.batches >= 1 && out.batches <= kMost) return read;
  return ConfigError(path, absl::StrCat("got ", Excerpt(value),
                                        "; expected `epoch` or a whole number "
                                        "of batches from 1 to ",
                                        kMost));
}

Value WriteConfig(const SaveFrequency& frequency) {
  return frequency.batches == 0 ? Value("epoch") : Value(frequency.batches);
}

std::string ConfigType(const SaveFrequency*) {
  return "`epoch` or number of batches";
}

}  // namespace paceline
