#include "common/base/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/errno_error.h"
#include "common/base/peer_text.h"
#include "common/base/relative_path.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::Status CheckName(const std::string& name) {
  if (StaysBelow(name) && !absl::StrContains(name, '/')) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", PeerText(name),
      "\" is no name of a file or folder; expected one component"));
}

// Of what is not a regular file.
absl::string_view KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a special file";
}

}  // namespace

absl::StatusOr<Folder> Folder::Open(const std::string& path) {
  std::string folder = path.empty() ? "." : path;
  FileDescriptor descriptor(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return ErrnoError("cannot open folder", folder);
  return Folder(std::move(descriptor), std::move(folder));
}

absl::StatusOr<Folder> Folder::OpenBelow(const std::string& name) const {
  RETURN_IF_ERROR(CheckName(name));
  FileDescriptor descriptor(
      openat(descriptor_.get(), name.c_str(),
             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor.is_open()) {
    return ErrnoError("cannot open folder", PathOf(name));
  }
  return Folder(std::move(descriptor), PathOf(name));
}

absl::StatusOr<FileDescriptor> Folder::CreateFile(
    const std::string& name) const {
  RETURN_IF_ERROR(CheckName(name));
  if (unlinkat(descriptor_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return ErrnoError("cannot replace", PathOf(name));
  }
  FileDescriptor file(
      openat(descriptor_.get(), name.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.is_open()) return ErrnoError("cannot create", PathOf(name));
  return file;
}

bool Folder::Has(const std::string& name) const {
  struct stat information = {};
  return fstatat(descriptor_.get(), name.c_str(), &information,
                 AT_SYMLINK_NOFOLLOW) == 0;
}

absl::Status Folder::CheckReplaceable(const std::string& name) const {
  struct stat information = {};
  // Without a file behind it, a name or link can be replaced.
  if (fstatat(descriptor_.get(), name.c_str(), &information, 0) != 0 ||
      S_ISREG(information.st_mode)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("cannot replace ", PathOf(name), ": it is ",
                   KindOf(information.st_mode), "; expected a regular file"));
}

bool Folder::IsNamed(const FileDescriptor& file,
                     const std::string& name) const {
  struct stat open = {};
  struct stat named = {};
  return fstat(file.get(), &open) == 0 &&
         fstatat(descriptor_.get(), name.c_str(), &named,
                 AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

absl::Status Folder::Rename(const std::string& from,
                            const std::string& to) const {
  if (renameat(descriptor_.get(), from.c_str(), descriptor_.get(),
               to.c_str()) != 0) {
    return ErrnoError("cannot rename to", PathOf(to));
  }
  return absl::OkStatus();
}

void Folder::Remove(const std::string& name) const {
  unlinkat(descriptor_.get(), name.c_str(), 0);
}

absl::Status Folder::Sync() const {
  if (fsync(descriptor_.get()) != 0) {
    return ErrnoError("cannot sync folder", path_);
  }
  return absl::OkStatus();
}

std::string Folder::PathOf(const std::string& name) const {
  return absl::StrCat(path_, "/", name);
}

}  // namespace paceline
