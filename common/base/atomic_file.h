// A file that is replaced atomically: completely or not at all.
#ifndef PACELINE_COMMON_BASE_ATOMIC_FILE_H_
#define PACELINE_COMMON_BASE_ATOMIC_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file_descriptor.h"
#include "common/base/folder.h"

namespace paceline {

// Content is written to `path`.tmp; Commit syncs that file and renames it to
// `path`. Without a successful Commit the file at `path` stays as it was, and
// the temporary file is removed. A link at either path is replaced, never
// followed: what it leads to stays as it was. FailedPrecondition if `path` is,
// or is a link to, what is not a regular file: a device, a folder, a pipe. Not
// thread-safe; a path may have only one writer. Errors name the path. Blocks on
// the disk.
class AtomicFile {
 public:
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(
      const std::string& path);
  // A file `name` that must not exist yet; AlreadyExists if it does.
  static absl::StatusOr<std::unique_ptr<AtomicFile>> CreateNew(
      Folder folder, const std::string& name);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Append(absl::string_view content);

  // No call may follow.
  absl::Status Commit();

  std::string path() const { return folder_.PathOf(name_); }

 private:
  AtomicFile(Folder folder, std::string name, FileDescriptor file);
  static absl::StatusOr<std::unique_ptr<AtomicFile>> CreateIn(
      Folder folder, const std::string& name);

  const Folder folder_;
  const std::string name_;
  const std::string temporary_;
  const FileDescriptor file_;
  bool is_committed_ = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_ATOMIC_FILE_H_
