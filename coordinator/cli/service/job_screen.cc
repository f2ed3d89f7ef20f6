#include "coordinator/cli/service/job_screen.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/printed_text.h"
#include "common/progress/progress_message.h"

namespace paceline {
namespace {

// Of a line that is kept until its end has come.
constexpr size_t kMaxLineBytes = 64 << 10;

}  // namespace

JobScreen::~JobScreen() {
  if (!rest_.empty()) ShowLine(rest_);
  DrawCurrent();
  if (line_.is_drawn()) line_.End();
}

void JobScreen::SetProgress(const v1::JobProgress& progress) {
  if (!CheckJobProgress(progress).ok()) return;
  style_ = MakeProgressStyle(progress.style());
  const std::string last_end = ended_.empty() ? "" : ended_.back().first;
  const size_t last_count = ended_.size();
  ended_.clear();
  for (const v1::EpochProgress& message : progress.ended()) {
    const EpochProgress epoch = FromProto(message, /*is_end=*/true);
    ended_.emplace_back(style_->Line(epoch), style_->Bar(epoch));
  }
  if (ended_.size() != last_count ||
      (!ended_.empty() && ended_.back().first != last_end)) {
    is_bar_over_ = true;
  }
  current_.reset();
  if (progress.has_current()) {
    current_ = style_->Bar(FromProto(progress.current(), /*is_end=*/false));
  }
}

void JobScreen::ForgetProgress() {
  if (!rest_.empty()) ShowLine(std::exchange(rest_, ""));
  if (line_.is_drawn()) line_.End();
  ended_.clear();
  current_.reset();
}

void JobScreen::Show(absl::string_view text) {
  absl::StrAppend(&rest_, text);
  absl::string_view lines = rest_;
  for (size_t end = lines.find('\n'); end != lines.npos;
       end = lines.find('\n')) {
    ShowLine(lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  if (lines.size() > kMaxLineBytes) {
    ShowLine(lines);
    lines = "";
  }
  rest_ = std::string(lines);
  DrawCurrent();
}

void JobScreen::WriteAbove(const std::function<void()>& write) {
  line_.Erase();
  write();
  DrawCurrent();
}

void JobScreen::ShowLine(absl::string_view line) {
  const auto epoch =
      std::find_if(ended_.begin(), ended_.end(),
                   [&](const auto& each) { return each.first == line; });
  if (epoch != ended_.end()) {
    line_.Draw(epoch->second);
    line_.End();
  } else if (line.empty() && line_.is_drawn() && is_bar_over_) {
    // As Keras begins a callback's message, whose lines come below the bar.
    line_.End();
  } else {
    line_.Erase();
    out_ << PrintedText(line) << "\n" << std::flush;
  }
}

void JobScreen::DrawCurrent() {
  if (!current_.has_value()) return;
  line_.Draw(*current_);
  is_bar_over_ = false;
}

}  // namespace paceline
