// What somebody who follows a job sees on a terminal: its leader's log, with a
// progress bar below it as `coordinator run` draws it.
//
// The log has a line for the end of each epoch. Where the progress tells of an
// epoch with that very line, the screen shows its bar instead.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_JOB_SCREEN_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_JOB_SCREEN_H_

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/progress/bar_line.h"
#include "common/progress/progress_style.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

// Not thread-safe.
class JobScreen {
 public:
  // `out` is the terminal, and must outlive it.
  explicit JobScreen(std::ostream& out) : out_(out), line_(out) {}
  // Leaves the last bar as it is.
  ~JobScreen();
  JobScreen(const JobScreen&) = delete;
  JobScreen& operator=(const JobScreen&) = delete;

  // From now on bars are of this progress; not a good one is ignored.
  void SetProgress(const v1::JobProgress& progress);
  // The next start of the job begins.
  void ForgetProgress();
  // Shows the next piece of the log, and the bar of the epoch that goes on.
  void Show(absl::string_view text);
  // Calls `write`, which writes whole lines to the terminal, above the bar.
  void WriteAbove(const std::function<void()>& write);

 private:
  void ShowLine(absl::string_view line);
  void DrawCurrent();

  std::ostream& out_;
  BarLine line_;
  std::unique_ptr<const ProgressStyle> style_;
  // Epochs that have ended, as the log has them and as the screen shows them.
  std::vector<std::pair<std::string, BarText>> ended_;
  std::optional<BarText> current_;
  // Whether the epoch whose bar is drawn has ended since.
  bool is_bar_over_ = false;
  // The beginning of a line of the log.
  std::string rest_;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_JOB_SCREEN_H_
