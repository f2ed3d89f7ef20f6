// A file that is written whole or not at all.
#ifndef PACELINE_COMMON_BASE_ATOMIC_FILE_H_
#define PACELINE_COMMON_BASE_ATOMIC_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Content goes into `path`.tmp; Commit syncs it and renames it over `path`.
// Without a Commit that succeeds, what was at `path` stays as it was, and the
// temporary file is removed. Not thread-safe; one writer a path. Errors name
// the path. Blocks on the disk.
class AtomicFile {
 public:
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(
      const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Append(absl::string_view content);

  // Nothing may follow.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int descriptor);

  const std::string path_;
  const std::string temporary_;
  int descriptor_;
  bool is_committed_ = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_ATOMIC_FILE_H_
