// The parts of a progress bar that all versions of Keras write alike.
#ifndef PACELINE_COMMON_PROGRESS_PROGRESS_TEXT_H_
#define PACELINE_COMMON_PROGRESS_PROGRESS_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/callback/logs.h"
#include "common/progress/progress_style.h"

namespace paceline {

std::string RepeatedText(absl::string_view text, int64_t count);

// " 5/12": the first number is as wide as the second.
std::string StepCountText(const EpochProgress& progress);
// "      5/Unknown".
std::string UnknownCountText(const EpochProgress& progress);

// Of a bar of `width` characters, how many are filled. The total is known.
int64_t FilledWidth(const EpochProgress& progress, int64_t width);

// "3s", rounded.
std::string ElapsedText(double seconds);
// The time that the remaining steps take, which is cut and not rounded: "59s",
// "1:00", "1:00:00". The total is known.
std::string RemainingText(const EpochProgress& progress);
// " 3ms/step", in s, ms or us.
std::string TimePerUnitText(double seconds, absl::string_view unit);

// Which values have an exponent: those up to 0.001 in size, or those up to
// 0.001, so that all negative values do.
enum class ExponentOf { kSmallSizes, kSmallValues };
// " - loss: 0.2027 - accuracy: 0.9400".
std::string LogsText(const Logs& logs, ExponentOf exponent_of);

// The columns of a terminal that a text without escape sequences takes.
int64_t TextWidth(absl::string_view text);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROGRESS_PROGRESS_TEXT_H_
