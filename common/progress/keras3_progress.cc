#include "common/progress/keras3_progress.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/progress/progress_text.h"

namespace paceline {
namespace {

constexpr int64_t kKeras3Width = 20;

std::string SortedLogsText(Logs logs, ExponentOf exponent_of) {
  std::sort(logs.begin(), logs.end());
  return LogsText(logs, exponent_of);
}

// The logs, and then those of the validation.
std::string AllLogsText(const EpochProgress& progress, ExponentOf exponent_of) {
  return absl::StrCat(SortedLogsText(progress.logs, exponent_of),
                      SortedLogsText(progress.validation_logs, exponent_of));
}

// The count of the steps and the bar.
BarText CountedBar(const EpochProgress& progress) {
  if (progress.steps_total == 0) {
    const std::string count = UnknownCountText(progress);
    return {count, static_cast<int64_t>(count.size())};
  }
  const std::string count = StepCountText(progress);
  const int64_t filled = FilledWidth(progress, kKeras3Width);
  BarText bar;
  bar.text = absl::StrCat("\x1b[1m", count, "\x1b[0m ");
  if (filled > 0) {
    absl::StrAppend(&bar.text, "\x1b[32m", RepeatedText("━", filled),
                    "\x1b[0m");
  }
  absl::StrAppend(&bar.text, "\x1b[37m",
                  RepeatedText("━", kKeras3Width - filled), "\x1b[0m");
  bar.width = static_cast<int64_t>(count.size()) + 1 + kKeras3Width;
  return bar;
}

}  // namespace

BarText Keras3Progress::Bar(const EpochProgress& progress) const {
  const bool shows_remaining = progress.steps_total > 0 && !progress.is_end;
  const std::string time =
      shows_remaining ? RemainingText(progress) : ElapsedText(progress.seconds);
  const std::string rest =
      absl::StrCat(TimePerUnitText(progress.seconds_per_step, "step"),
                   AllLogsText(progress, ExponentOf::kSmallSizes));
  BarText bar = CountedBar(progress);
  absl::StrAppend(&bar.text, " \x1b[1m", time, "\x1b[0m", rest);
  bar.width += 1 + static_cast<int64_t>(time.size()) + TextWidth(rest);
  return bar;
}

std::string Keras3Progress::Line(const EpochProgress& progress) const {
  return absl::StrCat(StepCountText(progress), " - ",
                      ElapsedText(progress.seconds), " -",
                      TimePerUnitText(progress.seconds_per_step, "step"),
                      AllLogsText(progress, ExponentOf::kSmallValues));
}

}  // namespace paceline
