#include "common/progress/progress_message.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// With these, all times and numbers of a bar fit their types.
constexpr uint64_t kMaxSteps = 1'000'000'000'000;
constexpr double kMaxSeconds = 1e12;
constexpr double kMaxRemainingSeconds = 1e15;

using LoggedValues = google::protobuf::RepeatedPtrField<v1::LoggedValue>;

void AddLogs(const Logs& logs, LoggedValues& values) {
  for (const auto& [name, value] : logs) {
    v1::LoggedValue& logged = *values.Add();
    logged.set_name(name);
    logged.set_value(value);
  }
}

Logs LogsOf(const LoggedValues& values) {
  Logs logs;
  for (const v1::LoggedValue& logged : values) {
    logs.emplace_back(logged.name(), logged.value());
  }
  return logs;
}

absl::Status Unexpected(absl::string_view field, absl::string_view value,
                        absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("progress: ", field, ": ", value, "; expected ", expected));
}

absl::Status CheckSeconds(absl::string_view field, double seconds) {
  if (seconds >= 0 && seconds <= kMaxSeconds) return absl::OkStatus();
  return Unexpected(field, absl::StrCat(seconds),
                    absl::StrCat("from 0 to ", kMaxSeconds));
}

absl::Status CheckLogs(absl::string_view field, const LoggedValues& values) {
  if (values.size() > kMaxLoggedValues) {
    return Unexpected(field, absl::StrCat(values.size(), " values"),
                      absl::StrCat("at most ", kMaxLoggedValues));
  }
  for (const v1::LoggedValue& logged : values) {
    const std::string& name = logged.name();
    // PeerText cuts what is long, so this is also a limit of characters.
    if (name.size() > kMaxLogNameBytes || PeerText(name) != name) {
      return Unexpected(absl::StrCat(field, ".name"),
                        absl::StrCat("\"", PeerText(name), "\""),
                        "a short name without control characters");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckEpoch(const v1::EpochProgress& epoch, bool is_end) {
  if (epoch.steps_total() > kMaxSteps) {
    return Unexpected("steps_total", absl::StrCat(epoch.steps_total()),
                      absl::StrCat("at most ", kMaxSteps));
  }
  // The total may be unknown while the epoch goes on.
  const bool is_unknown = epoch.steps_total() == 0 && !is_end;
  const uint64_t most = is_unknown ? kMaxSteps : epoch.steps_total();
  if (epoch.steps_done() > most || (is_end && epoch.steps_total() == 0)) {
    return Unexpected(
        "steps_done",
        absl::StrCat(epoch.steps_done(), " of ", epoch.steps_total()),
        "no more than there are, and some");
  }
  RETURN_IF_ERROR(CheckSeconds("seconds", epoch.seconds()));
  RETURN_IF_ERROR(CheckSeconds("seconds_per_step", epoch.seconds_per_step()));
  if (epoch.seconds_per_step() * static_cast<double>(most) >
      kMaxRemainingSeconds) {
    return Unexpected(
        "seconds_per_step", absl::StrCat(epoch.seconds_per_step()),
        absl::StrCat("at most ", kMaxRemainingSeconds, " for all steps"));
  }
  RETURN_IF_ERROR(CheckLogs("logs", epoch.logs()));
  return CheckLogs("validation_logs", epoch.validation_logs());
}

}  // namespace

v1::EpochProgress ToProto(const EpochProgress& progress) {
  v1::EpochProgress message;
  message.set_steps_done(static_cast<uint64_t>(progress.steps_done));
  message.set_steps_total(static_cast<uint64_t>(progress.steps_total));
  message.set_seconds(progress.seconds);
  message.set_seconds_per_step(progress.seconds_per_step);
  AddLogs(progress.logs, *message.mutable_logs());
  AddLogs(progress.validation_logs, *message.mutable_validation_logs());
  return message;
}

EpochProgress FromProto(const v1::EpochProgress& message, bool is_end) {
  EpochProgress progress;
  progress.steps_done = static_cast<int64_t>(message.steps_done());
  progress.steps_total = static_cast<int64_t>(message.steps_total());
  progress.seconds = message.seconds();
  progress.seconds_per_step = message.seconds_per_step();
  progress.logs = LogsOf(message.logs());
  progress.validation_logs = LogsOf(message.validation_logs());
  progress.is_end = is_end;
  return progress;
}

absl::Status CheckJobProgress(const v1::JobProgress& message) {
  if (message.ByteSizeLong() > kMaxProgressBytes) {
    return Unexpected("size", absl::StrCat(message.ByteSizeLong(), " bytes"),
                      absl::StrCat("at most ", kMaxProgressBytes));
  }
  if (!v1::ProgressStyle_IsValid(message.style())) {
    return Unexpected("style", absl::StrCat(message.style()), "a known style");
  }
  if (message.ended_size() > kMaxEndedEpochs) {
    return Unexpected("ended", absl::StrCat(message.ended_size(), " epochs"),
                      absl::StrCat("at most ", kMaxEndedEpochs));
  }
  for (const v1::EpochProgress& epoch : message.ended()) {
    RETURN_IF_ERROR(CheckEpoch(epoch, /*is_end=*/true));
  }
  if (!message.has_current()) return absl::OkStatus();
  return CheckEpoch(message.current(), /*is_end=*/false);
}

}  // namespace paceline
