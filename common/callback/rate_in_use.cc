#include "common/callback/rate_in_use.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/config/path.h"

namespace paceline {

double RateInUse(double before, const Decision& decision) {
  return static_cast<float>(decision.learning_rate.value_or(before));
}

absl::Status CheckConstantRate(const Callback& callback,
                               const CallbackContext& context,
                               const Path& path) {
  if (!context.has_rate_schedule) return absl::OkStatus();
  return ConfigError(path, absl::StrCat(callback.class_name(),
                                        " needs an optimizer with a constant "
                                        "learning_rate"));
}

void LogRate(const Decision& decision, EpochEnd& end) {
  const std::string key = "learning_rate";
  const double rate = RateInUse(end.learning_rate, decision);
  const auto logged =
      std::find_if(end.logs.begin(), end.logs.end(),
                   [&](const auto& entry) { return entry.first == key; });
  if (logged == end.logs.end()) {
    end.logs.emplace_back(key, rate);
  } else {
    logged->second = rate;
  }
}

}  // namespace paceline
