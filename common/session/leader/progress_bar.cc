#include "common/session/leader/progress_bar.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

constexpr absl::Duration kDrawInterval = absl::Milliseconds(50);
constexpr absl::Duration kRecordInterval = absl::Milliseconds(200);
// Steps are heard of a heartbeat (250 ms) after they were taken, at most; four
// of them are long enough to divide by.
constexpr absl::Duration kTimedLongEnough = absl::Seconds(1);

v1::Verbose VerboseOf(const v1::Job& job, const std::ostream* out,
                      bool is_terminal) {
  if (out == nullptr) return v1::VERBOSE_SILENT;
  if (job.verbose() != v1::VERBOSE_UNSPECIFIED) return job.verbose();
  return is_terminal ? v1::VERBOSE_BAR : v1::VERBOSE_LINES;
}

}  // namespace

ProgressBar::ProgressBar(std::ostream* out, bool is_terminal,
                         const v1::Job& job,
                         std::unique_ptr<ProgressRecord> record, Clock clock)
    : out_(out),
      verbose_(record != nullptr ? v1::VERBOSE_LINES
                                 : VerboseOf(job, out, is_terminal)),
      record_(std::move(record)),
      style_(MakeProgressStyle(job.progress_style())),
      epochs_(static_cast<int>(job.epochs())),
      clock_(std::move(clock)) {
  if (verbose_ == v1::VERBOSE_BAR) line_.emplace(*out);
}

void ProgressBar::BeginEpoch(int epoch, int64_t steps_done) {
  Begin(v1::PHASE_TRAIN, steps_done);
  epoch_ = epoch;
  if (verbose_ == v1::VERBOSE_SILENT || epochs_ <= 1) return;
  *out_ << absl::StrCat("Epoch ", epoch + 1, "/", epochs_, "\n") << std::flush;
}

void ProgressBar::BeginTest() { Begin(v1::PHASE_TEST, /*steps_done=*/0); }

void ProgressBar::Begin(v1::Phase phase, int64_t steps_done) {
  phase_ = phase;
  began_ = clock_();
  steps_at_start_ = steps_done;
  first_steps_.reset();
  drawn_steps_ = steps_done;
  last_drawn_ = absl::InfinitePast();
}

bool ProgressBar::IsShown(const ProgressView& view) const {
  return view.phase == phase_ &&
         (phase_ == v1::PHASE_TEST || view.epoch == epoch_);
}

void ProgressBar::Update(const ProgressView& view) {
  if ((!line_ && record_ == nullptr) || !IsShown(view) ||
      view.steps_done == drawn_steps_) {
    return;
  }
  const absl::Time now = clock_();
  if (!first_steps_) {
    first_steps_ = view.steps_done;
    first_time_ = now;
  }
  if (now - last_drawn_ < (line_ ? kDrawInterval : kRecordInterval)) return;
  EpochProgress progress = ProgressOf(view.steps_done, view.steps_total);
  progress.logs = view.logs;
  if (line_) line_->Draw(style_->Bar(progress));
  if (record_ != nullptr) record_->SetCurrent(progress);
  drawn_steps_ = view.steps_done;
  last_drawn_ = now;
}

void ProgressBar::EndEpoch(const EpochRecord& record) {
  EpochProgress progress = ProgressOf(record.steps, record.steps);
  progress.logs = record.logs;
  progress.validation_logs = record.validation_logs;
  End(std::move(progress));
}

void ProgressBar::EndTest(int64_t steps, const Logs& logs) {
  EpochProgress progress = ProgressOf(steps, steps);
  progress.logs = logs;
  End(std::move(progress));
}

void ProgressBar::End(EpochProgress progress) {
  if (verbose_ == v1::VERBOSE_SILENT) return;
  progress.is_end = true;
  if (line_) {
    line_->Draw(style_->Bar(progress));
    line_->End();
    return;
  }
  // Whoever reads the line finds what has ended in the record.
  if (record_ != nullptr) record_->AddEnded(progress);
  *out_ << style_->Line(progress) << "\n" << std::flush;
}

EpochProgress ProgressBar::ProgressOf(int64_t steps_done,
                                      int64_t steps_total) const {
  EpochProgress progress;
  progress.steps_done = steps_done;
  progress.steps_total = steps_total;
  progress.seconds = absl::ToDoubleSeconds(clock_() - began_);
  progress.seconds_per_step = StepTime(steps_done);
  return progress;
}

double ProgressBar::StepTime(int64_t steps_done) const {
  const absl::Time now = clock_();
  if (first_steps_ && steps_done > *first_steps_ &&
      (*first_steps_ == steps_at_start_ + 1 ||
       now - first_time_ >= kTimedLongEnough)) {
    return absl::ToDoubleSeconds(now - first_time_) /
           static_cast<double>(steps_done - *first_steps_);
  }
  const int64_t steps = steps_done - steps_at_start_;
  return steps > 0
             ? absl::ToDoubleSeconds(now - began_) / static_cast<double>(steps)
             : 0;
}

}  // namespace paceline
