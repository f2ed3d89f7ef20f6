// The files of TensorBoard's profile page.
#ifndef PACELINE_COMMON_SESSION_LEADER_TRACE_FILES_H_
#define PACELINE_COMMON_SESSION_LEADER_TRACE_FILES_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/callback/trace.h"

namespace paceline {

// The traces of all tasks come into one run, which is named after the time of
// the first. Not thread-safe. Blocks on the disk. Errors name the file.
class TraceFiles {
 public:
  using Clock = std::function<absl::Time()>;
  explicit TraceFiles(Clock clock = absl::Now) : clock_(std::move(clock)) {}

  // Writes `folder`/plugins/profile/<YYYY_MM_DD_hh_mm_ss>/<task>.xplane.pb, by
  // the local time, whole or not at all. The folders are created.
  absl::Status Write(const std::string& folder, const std::string& task,
                     const Trace& trace);

 private:
  const Clock clock_;
  // The run in each folder.
  std::map<std::string, std::string> runs_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_TRACE_FILES_H_
