// A folder that files are made in.
#ifndef PACELINE_COMMON_BASE_FOLDER_H_
#define PACELINE_COMMON_BASE_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// Names are looked up in the folder that was opened, whatever its path leads to
// by then, and no link is followed. A name is one component: "", "." and "..",
// and names with "/" or NUL, are InvalidArgument. Errors name the path. Methods
// block on the disk.
class Folder {
 public:
  // Follows links on its way: the path is the user's. "" is the working
  // folder.
  static absl::StatusOr<Folder> Open(const std::string& path);

  // The folder `name` in this one. FailedPrecondition if that is a link or no
  // folder.
  absl::StatusOr<Folder> OpenBelow(const std::string& name) const;

  // A new file in place of the one at `name`. If a link is there, or another
  // name of some file, that goes; what it led to stays as it is.
  absl::StatusOr<FileDescriptor> CreateFile(const std::string& name) const;

  // Whether something is at `name`; a link counts, wherever it leads.
  bool Has(const std::string& name) const;

  // Puts the file `from` at `to`, in place of what is there.
  absl::Status Rename(const std::string& from, const std::string& to) const;
  void Remove(const std::string& name) const;

  // Flushes the folder's entries to disk, so that new names in it last.
  absl::Status Sync() const;

  std::string PathOf(const std::string& name) const;

 private:
  Folder(FileDescriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  FileDescriptor descriptor_;
  // For errors.
  std::string path_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_FOLDER_H_
