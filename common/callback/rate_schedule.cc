#include "common/callback/rate_schedule.h"

#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/check.h"
#include "common/config/codec.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {
namespace {

absl::StatusOr<int64_t> ReadEpoch(const std::string& key, const Path& path) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t epoch = 0;
  if (absl::SimpleAtoi(key, &epoch) && epoch >= 0 && epoch <= kMost) {
    return epoch;
  }
  return ConfigError(
      path,
      absl::StrCat("key ", Excerpt(Value(key)),
                   "; expected the number of an epoch, from 0 to ", kMost));
}

}  // namespace

double RateSchedule::At(const ScheduleVariables& variables) const {
  if (expression_) return expression_->Evaluate(variables);
  const auto next = rates_.upper_bound(static_cast<int64_t>(variables.epoch));
  return next == rates_.begin() ? variables.lr : std::prev(next)->second;
}

absl::Status ReadConfig(const Value& value, const Path& path,
                        RateSchedule& out) {
  out = RateSchedule();
  if (value.is_string()) {
    out.text_ = value.as_string();
    absl::StatusOr<ScheduleExpression> parsed =
        ScheduleExpression::Parse(out.text_);
    if (!parsed.ok()) return ConfigError(path, parsed.status().message());
    out.expression_ = *std::move(parsed);
    return absl::OkStatus();
  }
  if (!value.is_map() || value.as_map().empty()) {
    return WrongType(value, path, ConfigType(&out));
  }
  for (const Value::Entry& entry : value.as_map()) {
    ASSIGN_OR_RETURN(const int64_t epoch, ReadEpoch(entry.key, path));
    const Path key = path.Key(entry.key);
    double& rate = out.rates_[epoch];
    RETURN_IF_ERROR(Codec<double>::Read(entry.value, key, rate));
    RETURN_IF_ERROR(Apply(AtLeast(0), entry.value, key));
  }
  return absl::OkStatus();
}

Value WriteConfig(const RateSchedule& schedule) {
  if (schedule.expression_) return schedule.text_;
  Value::Map map;
  for (const auto& [epoch, rate] : schedule.rates_) {
    map.push_back({absl::StrCat(epoch), rate});
  }
  return map;
}

std::string ConfigType(const RateSchedule*) {
  return "map of epochs to rates, or expression";
}

}  // namespace paceline
