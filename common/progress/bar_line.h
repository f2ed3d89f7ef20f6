// The line of a terminal that a progress bar is drawn on.
#ifndef PACELINE_COMMON_PROGRESS_BAR_LINE_H_
#define PACELINE_COMMON_PROGRESS_BAR_LINE_H_

#include <cstdint>
#include <ostream>

#include "common/progress/progress_style.h"

namespace paceline {

// The bar is the last line of what is written. Not thread-safe.
class BarLine {
 public:
  // `out` must outlive it.
  explicit BarLine(std::ostream& out) : out_(out) {}

  // Draws over the bar that is there.
  void Draw(const BarText& bar);
  // Takes the bar away: what is written next begins the line.
  void Erase();
  // Leaves the bar as it is: the next one has a line of its own.
  void End();
  // Whether there is a bar.
  bool is_drawn() const { return width_ > 0; }

 private:
  std::ostream& out_;
  // Columns of the bar on the terminal.
  int64_t width_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROGRESS_BAR_LINE_H_
