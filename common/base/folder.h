// An open folder in which files are created.
#ifndef PACELINE_COMMON_BASE_FOLDER_H_
#define PACELINE_COMMON_BASE_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Names are looked up in the folder that was opened, even if its path leads
// elsewhere later, and links are not followed. A name is a single component:
// "", ".", "..", and names with "/" or NUL are InvalidArgument. Errors name the
// path. Methods block on the disk.
class Folder {
 public:
  // Follows links in `path`, which comes from the user. "": the working folder.
  static absl::StatusOr<Folder> Open(const std::string& path);

  // Opens the folder `name` in this one. FailedPrecondition if it is a link or
  // not a folder.
  absl::StatusOr<Folder> OpenBelow(const std::string& name) const;

  // Creates a new file `name`, and removes what has that name now. If that is a
  // link, its target is not changed; if it is a hard link, the file's other
  // names are not.
  absl::StatusOr<FileDescriptor> CreateFile(const std::string& name) const;

  // Whether the folder has an entry `name`; a dangling link counts, too.
  bool Has(const std::string& name) const;

  // FailedPrecondition if a rename to `name` would replace what is not a
  // regular file, such as a device or a folder; says which. A link counts as
  // what it leads to.
  absl::Status CheckReplaceable(const std::string& name) const;

  // Whether the entry `name` is the open `file`, and not another one.
  bool IsNamed(const FileDescriptor& file, const std::string& name) const;

  // Renames `from` to `to`, and replaces what is there.
  absl::Status Rename(const std::string& from, const std::string& to) const;
  void Remove(const std::string& name) const;

  // Syncs the folder, so that new names in it survive a crash.
  absl::Status Sync() const;

  std::string PathOf(const std::string& name) const;

 private:
  Folder(FileDescriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  FileDescriptor descriptor_;
  // Used in errors.
  std::string path_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FOLDER_H_
