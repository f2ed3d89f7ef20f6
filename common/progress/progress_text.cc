#include "common/progress/progress_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/utf8.h"

namespace paceline {

std::string RepeatedText(absl::string_view text, int64_t count) {
  std::string result;
  for (int64_t i = 0; i < count; ++i) absl::StrAppend(&result, text);
  return result;
}

std::string StepCountText(const EpochProgress& progress) {
  const std::string total = absl::StrCat(progress.steps_total);
  return absl::StrFormat("%*d/%s", static_cast<int>(total.size()),
                         progress.steps_done, total);
}

std::string UnknownCountText(const EpochProgress& progress) {
  return absl::StrFormat("%7d/Unknown", progress.steps_done);
}

int64_t FilledWidth(const EpochProgress& progress, int64_t width) {
  // Computed in floating point, since Keras does, and rounding must agree.
  return static_cast<int64_t>(static_cast<double>(width) *
                              (static_cast<double>(progress.steps_done) /
                               static_cast<double>(progress.steps_total)));
}

std::string ElapsedText(double seconds) {
  return absl::StrFormat("%.0fs", seconds);
}

std::string RemainingText(const EpochProgress& progress) {
  const double seconds =
      progress.seconds_per_step *
      static_cast<double>(progress.steps_total - progress.steps_done);
  const auto whole = static_cast<int64_t>(seconds);
  if (seconds > 3600) {
    return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole % 3600 / 60,
                           whole % 60);
  }
  if (seconds > 60) {
    return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
  }
  return absl::StrCat(whole, "s");
}

std::string TimePerUnitText(double seconds, absl::string_view unit) {
  if (seconds >= 1 || seconds == 0) {
    return absl::StrFormat(" %.0fs/%s", seconds, unit);
  }
  if (seconds >= 1e-3)
    return absl::StrFormat(" %.0fms/%s", seconds * 1e3, unit);
  return absl::StrFormat(" %.0fus/%s", seconds * 1e6, unit);
}

std::string LogsText(const Logs& logs, ExponentOf exponent_of) {
  std::string text;
  for (const auto& [name, value] : logs) {
    const double size =
        exponent_of == ExponentOf::kSmallSizes ? std::abs(value) : value;
    absl::StrAppend(&text, " - ", name, ": ");
    if (std::isnan(value)) {
      absl::StrAppend(&text, "nan");
    } else if (size > 1e-3) {
      absl::StrAppendFormat(&text, "%.4f", value);
    } else {
      absl::StrAppendFormat(&text, "%.4e", value);
    }
  }
  return text;
}

int64_t TextWidth(absl::string_view text) {
  int64_t columns = 0;
  for (; !text.empty(); text.remove_prefix(FirstCharacter(text).size)) {
    ++columns;
  }
  return columns;
}

}  // namespace paceline
