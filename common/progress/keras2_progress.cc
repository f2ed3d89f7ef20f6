#include "common/progress/keras2_progress.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/progress/progress_text.h"

namespace paceline {
namespace {

constexpr int64_t kKeras2Width = 30;

// "933/938 [============================>.]"
std::string CountAndBar(const EpochProgress& progress) {
  if (progress.steps_total == 0) return UnknownCountText(progress);
  const int64_t filled = FilledWidth(progress, kKeras2Width);
  std::string text = absl::StrCat(StepCountText(progress), " [");
  if (filled > 0) {
    const bool is_full = progress.steps_done >= progress.steps_total;
    absl::StrAppend(&text, RepeatedText("=", filled - 1), is_full ? "=" : ">");
  }
  absl::StrAppend(&text, RepeatedText(".", kKeras2Width - filled), "]");
  return text;
}

std::string Keras2TimeText(const EpochProgress& progress) {
  if (progress.steps_total > 0 && !progress.is_end) {
    return absl::StrCat(" - ETA: ", RemainingText(progress));
  }
  return absl::StrCat(" - ", ElapsedText(progress.seconds),
                      TimePerUnitText(progress.seconds_per_step, "step"));
}

}  // namespace

BarText Keras2Progress::Bar(const EpochProgress& progress) const {
  BarText bar;
  bar.text =
      absl::StrCat(CountAndBar(progress), Keras2TimeText(progress),
                   LogsText(progress.logs, ExponentOf::kSmallSizes),
                   LogsText(progress.validation_logs, ExponentOf::kSmallSizes));
  bar.width = TextWidth(bar.text);
  return bar;
}

std::string Keras2Progress::Line(const EpochProgress& progress) const {
  return absl::StrCat(
      StepCountText(progress), " - ", ElapsedText(progress.seconds),
      LogsText(progress.logs, ExponentOf::kSmallValues),
      LogsText(progress.validation_logs, ExponentOf::kSmallValues), " -",
      TimePerUnitText(progress.seconds, "epoch"), " -",
      TimePerUnitText(progress.seconds_per_step, "step"));
}

}  // namespace paceline
