#include "common/session/leader/progress_bar.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace paceline {
namespace {

constexpr int kBarWidth = 20;
constexpr absl::Duration kInterval = absl::Milliseconds(50);

std::string Repeat(absl::string_view text, int64_t count) {
  std::string result;
  for (int64_t i = 0; i < count; ++i) absl::StrAppend(&result, text);
  return result;
}

// " 5/12", padded to the width of the total.
std::string Count(int64_t steps_done, int64_t steps_total) {
  const int digits = static_cast<int>(absl::StrCat(steps_total).size());
  return absl::StrFormat("%*d/%d", digits, steps_done, steps_total);
}

std::string StepTimeText(double seconds) {
  if (seconds >= 1 || seconds == 0) {
    return absl::StrFormat(" %.0fs/step", seconds);
  }
  if (seconds >= 1e-3) return absl::StrFormat(" %.0fms/step", seconds * 1e3);
  return absl::StrFormat(" %.0fus/step", seconds * 1e6);
}

std::string EtaText(double seconds) {
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

// " - accuracy: 0.9400 - loss: 0.2027". As in Keras, small values have an
// exponent; with one line per epoch (verbose=2) negative values have one, too.
std::string LogsText(Logs logs, bool is_terminal) {
  std::sort(logs.begin(), logs.end());
  std::string text;
  for (const auto& [name, value] : logs) {
    absl::StrAppend(&text, " - ", name, ": ");
    if (std::isnan(value)) {
      absl::StrAppend(&text, "nan");
    } else if ((is_terminal ? std::abs(value) : value) > 1e-3) {
      absl::StrAppendFormat(&text, "%.4f", value);
    } else {
      absl::StrAppendFormat(&text, "%.4e", value);
    }
  }
  return text;
}

}  // namespace

ProgressBar::ProgressBar(std::ostream* out, bool is_terminal, int epochs,
                         Clock clock)
    : out_(out),
      is_terminal_(is_terminal),
      epochs_(epochs),
      clock_(std::move(clock)) {}

void ProgressBar::BeginEpoch(int epoch, int64_t steps_done) {
  epoch_ = epoch;
  began_ = clock_();
  steps_at_start_ = steps_done;
  first_steps_.reset();
  drawn_steps_ = steps_done;
  last_drawn_ = absl::InfinitePast();
  width_ = 0;
  if (out_ == nullptr || epochs_ <= 1) return;
  *out_ << absl::StrCat("Epoch ", epoch + 1, "/", epochs_, "\n") << std::flush;
}

void ProgressBar::Update(const ProgressView& view) {
  if (out_ == nullptr || !is_terminal_ || view.phase != v1::PHASE_TRAIN ||
      view.epoch != epoch_ || view.steps_done == drawn_steps_) {
    return;
  }
  const absl::Time now = clock_();
  if (!first_steps_) {
    first_steps_ = view.steps_done;
    first_time_ = now;
  }
  if (now - last_drawn_ < kInterval) return;
  Draw(view.steps_done, view.steps_total, LogsText(view.logs, is_terminal_),
       /*is_last=*/false);
  drawn_steps_ = view.steps_done;
  last_drawn_ = now;
}

void ProgressBar::EndEpoch(const EpochRecord& record) {
  if (out_ == nullptr) return;
  const std::string logs =
      absl::StrCat(LogsText(record.logs, is_terminal_),
                   LogsText(record.validation_logs, is_terminal_));
  if (is_terminal_) {
    Draw(record.steps, record.steps, logs, /*is_last=*/true);
    return;
  }
  *out_ << absl::StrFormat("%s - %.0fs -", Count(record.steps, record.steps),
                           absl::ToDoubleSeconds(clock_() - began_))
        << StepTimeText(StepTime(record.steps)) << logs << "\n"
        << std::flush;
}

double ProgressBar::StepTime(int64_t steps_done) {
  const absl::Time now = clock_();
  if (first_steps_ && steps_done > *first_steps_) {
    return absl::ToDoubleSeconds(now - first_time_) /
           static_cast<double>(steps_done - *first_steps_);
  }
  const int64_t steps = steps_done - steps_at_start_;
  return steps > 0
             ? absl::ToDoubleSeconds(now - began_) / static_cast<double>(steps)
             : 0;
}

void ProgressBar::Draw(int64_t steps_done, int64_t steps_total,
                       const std::string& logs, bool is_last) {
  const double step_time = StepTime(steps_done);
  const std::string count = Count(steps_done, steps_total);
  // Computed in floating point, since Keras does, and rounding must agree.
  const auto filled = static_cast<int64_t>(
      kBarWidth * (static_cast<double>(steps_done) /
                   static_cast<double>(std::max<int64_t>(steps_total, 1))));
  const std::string time =
      is_last
          ? absl::StrFormat("%.0fs", absl::ToDoubleSeconds(clock_() - began_))
          : EtaText(step_time * static_cast<double>(steps_total - steps_done));
  const std::string rest = absl::StrCat(StepTimeText(step_time), logs);

  std::string text =
      absl::StrCat(Repeat("\b", width_), "\r\x1b[1m", count, "\x1b[0m ");
  if (filled > 0) {
    absl::StrAppend(&text, "\x1b[32m", Repeat("━", filled), "\x1b[0m");
  }
  absl::StrAppend(&text, "\x1b[37m", Repeat("━", kBarWidth - filled),
                  "\x1b[0m \x1b[1m", time, "\x1b[0m", rest);
  const auto width = static_cast<int64_t>(count.size() + 1 + kBarWidth + 1 +
                                          time.size() + rest.size());
  absl::StrAppend(&text, Repeat(" ", width_ - width), is_last ? "\n" : "");
  width_ = width;
  *out_ << text << std::flush;
}

}  // namespace paceline
