#include "common/progress/bar_line.h"

#include "common/progress/progress_text.h"

namespace paceline {

void BarLine::Draw(const BarText& bar) {
  out_ << RepeatedText("\b", width_) << "\r" << bar.text
       << RepeatedText(" ", width_ - bar.width) << std::flush;
  width_ = bar.width;
}

void BarLine::Erase() {
  if (width_ == 0) return;
  out_ << RepeatedText("\b", width_) << "\r" << RepeatedText(" ", width_)
       << "\r" << std::flush;
  width_ = 0;
}

void BarLine::End() {
  out_ << "\n" << std::flush;
  width_ = 0;
}

}  // namespace paceline
