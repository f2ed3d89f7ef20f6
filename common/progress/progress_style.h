// How a version of Keras shows an epoch: as a progress bar (verbose=1), or as a
// line at its end (verbose=2).
#ifndef PACELINE_COMMON_PROGRESS_PROGRESS_STYLE_H_
#define PACELINE_COMMON_PROGRESS_PROGRESS_STYLE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "common/callback/logs.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

// How far an epoch has come.
struct EpochProgress {
  int64_t steps_done = 0;
  // 0 if it is unknown, which it is not at the end.
  int64_t steps_total = 0;
  // Since the epoch began.
  double seconds = 0;
  double seconds_per_step = 0;
  // In the order of sessions, the loss first.
  Logs logs;
  Logs validation_logs;
  bool is_end = false;
};

// A progress bar, and how many columns of a terminal it takes.
struct BarText {
  std::string text;
  int64_t width = 0;
};

// Immutable; thread-safe.
class ProgressStyle {
 public:
  virtual ~ProgressStyle() = default;

  virtual BarText Bar(const EpochProgress& progress) const = 0;
  // At the end of an epoch; without a line break.
  virtual std::string Line(const EpochProgress& progress) const = 0;
};

std::unique_ptr<const ProgressStyle> MakeProgressStyle(v1::ProgressStyle style);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROGRESS_PROGRESS_STYLE_H_
