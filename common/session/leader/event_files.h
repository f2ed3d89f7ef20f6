// The event files of TensorBoard's runs.
#ifndef PACELINE_COMMON_SESSION_LEADER_EVENT_FILES_H_
#define PACELINE_COMMON_SESSION_LEADER_EVENT_FILES_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/callback/callback.h"

namespace paceline {

// Each run gets a new file, once something is written to it. A resumed job
// repeats steps that an earlier file of the run has; TensorBoard then shows
// those of the later file. Not thread-safe. Blocks on the disk. Errors name the
// file.
class EventFiles {
 public:
  using Clock = std::function<absl::Time()>;
  explicit EventFiles(Clock clock = absl::Now) : clock_(std::move(clock)) {}

  // `folder`: of the run; it is created.
  absl::Status WriteScalars(const std::string& folder, int64_t step,
                            const Logs& scalars);
  // `json`: as Keras' to_json gives it.
  absl::Status WriteModel(const std::string& folder, absl::string_view json);

 private:
  struct File {
    std::string path;
    FileDescriptor descriptor;
  };

  double WallTime() const;
  absl::StatusOr<File*> FileIn(const std::string& folder);

  const Clock clock_;
  std::map<std::string, File> files_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_EVENT_FILES_H_
