#include "common/callback/monitor_callback.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/callback/python_number.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/field_table.h"
#include "common/config/path.h"
#include "nlohmann/json.hpp"

namespace paceline {

using nlohmann::json;

absl::Span<const EnumName<MonitorMode>> EnumNames(MonitorMode) {
  static constexpr EnumName<MonitorMode> kNames[] = {
      {MonitorMode::kAuto, "auto"},
      {MonitorMode::kMin, "min"},
      {MonitorMode::kMax, "max"}};
  return kNames;
}

Field<MonitorCallback> MonitorCallback::MonitorField() {
  return Optional("monitor", &MonitorCallback::monitor,
                  "The key of the watched value in the logs.");
}

Field<MonitorCallback> MonitorCallback::ModeField() {
  return Optional("mode", &MonitorCallback::mode,
                  "Whether less is better (`min`) or more (`max`); `auto`: as "
                  "the metric says.");
}

Field<MonitorCallback> MonitorCallback::MinDeltaField() {
  return Optional("min_delta", &MonitorCallback::min_delta,
                  "The least change that is an improvement; its sign does not "
                  "matter.");
}

absl::Status MonitorCallback::Prepare(const CallbackContext& context,
                                      const Path& path) {
  if (mode != MonitorMode::kAuto) {
    is_larger_better_ = mode == MonitorMode::kMax;
    return absl::OkStatus();
  }
  const auto known =
      context.directions.find(std::string(absl::StripPrefix(monitor, "val_")));
  if (known == context.directions.end()) {
    return ConfigError(
        path.Key("monitor"),
        absl::StrCat("auto does not say whether less or more of ",
                     Excerpt(Value(monitor)),
                     " is better; expected the key of the loss or of a metric "
                     "for which Keras knows it, or `mode` min or max"));
  }
  is_larger_better_ = known->second == Direction::kUp;
  return absl::OkStatus();
}

std::optional<double> MonitorCallback::ValueIn(const Logs& logs) const {
  for (const auto& [key, value] : logs) {
    if (key == monitor) return value;
  }
  return std::nullopt;
}

std::string MonitorCallback::KeysText(const Logs& logs) {
  return absl::StrJoin(logs, ",", [](std::string* text, const auto& entry) {
    absl::StrAppend(text, entry.first);
  });
}

bool MonitorCallback::Improves(double value,
                               std::optional<double> reference) const {
  if (!reference) return true;
  const double delta = std::abs(min_delta);
  const auto bound = static_cast<float>(*reference);
  return is_larger_better_ ? static_cast<float>(value - delta) > bound
                           : static_cast<float>(value + delta) < bound;
}

void MonitorCallback::WarnOnce(std::string text, Decision& decision) {
  if (std::exchange(has_warned_, true)) return;
  decision.outputs.emplace_back(ShowWarning{std::move(text)});
}

json SaveNumber(std::optional<double> number) {
  if (!number) return nullptr;
  return std::isfinite(*number) ? json(*number) : json(PythonNumber(*number));
}

absl::StatusOr<std::optional<double>> RestoreNumber(const ObjectReader& reader,
                                                    const char* key) {
  if (const auto text = reader.String(key); text.ok()) {
    for (const double number : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      if (*text == PythonNumber(number)) return number;
    }
    return reader.Error(key, "a number, \"inf\", \"-inf\" or \"nan\"");
  }
  ASSIGN_OR_RETURN(const double number, reader.Number(key));
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

}  // namespace paceline
