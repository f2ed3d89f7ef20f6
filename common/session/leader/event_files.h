// The event files of TensorBoard's runs.
#ifndef PACELINE_COMMON_SESSION_LEADER_EVENT_FILES_H_
#define PACELINE_COMMON_SESSION_LEADER_EVENT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/file_descriptor.h"
#include "common/base/mutex.h"
#include "common/callback/histogram.h"
#include "common/callback/logs.h"
#include "common/image/image_size.h"

namespace paceline {

// Each run gets a new file, once something is written to it. A resumed job
// repeats steps that an earlier file of the run has; TensorBoard's data server,
// which it runs by default, then shows those of the later file, and its reader
// in Python both. Thread-safe. Blocks on the disk. Errors name the
// file.
class EventFiles {
 public:
  using Clock = std::function<absl::Time()>;
  explicit EventFiles(Clock clock = absl::Now) : clock_(std::move(clock)) {}

  // `folder`: of the run; it is created.
  absl::Status WriteScalars(const std::string& folder, int64_t step,
                            const Logs& scalars);
  absl::Status WriteHistogram(const std::string& folder, int64_t step,
                              absl::string_view tag,
                              const Histogram& histogram);
  // `images`: encoded as PNG, each of this size.
  absl::Status WriteImages(const std::string& folder, int64_t step,
                           absl::string_view tag, ImageSize size,
                           absl::Span<const std::string> images);
  // `json`: as Keras' to_json gives it.
  absl::Status WriteModel(const std::string& folder, absl::string_view json);

 private:
  struct File {
    std::string path;
    FileDescriptor descriptor;
  };

  // A new file whose name ends with this number, or with the next that no file
  // has: phases of one process may begin within a second.
  static absl::StatusOr<File> CreateFile(const std::string& name,
                                         size_t number);
  double WallTime() const;
  absl::Status Append(const std::string& folder, absl::string_view records);
  absl::StatusOr<File*> FileIn(const std::string& folder)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock clock_;
  Mutex mutex_;
  std::map<std::string, File> files_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_EVENT_FILES_H_
