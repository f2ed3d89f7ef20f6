#include "common/base/atomic_file.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"

namespace paceline {

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(
    const std::string& path) {
  const std::filesystem::path parts = path;
  ASSIGN_OR_RETURN(Folder folder, Folder::Open(parts.parent_path().string()));
  return CreateIn(std::move(folder), parts.filename().string());
}

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::CreateNew(
    Folder folder, const std::string& name) {
  if (folder.Has(name)) {
    return absl::AlreadyExistsError(
        absl::StrCat(folder.PathOf(name), " is there already"));
  }
  return CreateIn(std::move(folder), name);
}

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::CreateIn(
    Folder folder, const std::string& name) {
  RETURN_IF_ERROR(folder.CheckReplaceable(name));
  ASSIGN_OR_RETURN(FileDescriptor file, folder.CreateFile(name + ".tmp"));
  return absl::WrapUnique(
      new AtomicFile(std::move(folder), name, std::move(file)));
}

AtomicFile::AtomicFile(Folder folder, std::string name, FileDescriptor file)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      temporary_(name_ + ".tmp"),
      file_(std::move(file)) {}

AtomicFile::~AtomicFile() {
  if (!is_committed_ && folder_.IsNamed(file_, temporary_)) {
    folder_.Remove(temporary_);
  }
}

absl::Status AtomicFile::Append(absl::string_view content) {
  return WriteAll(file_, folder_.PathOf(temporary_), content);
}

absl::Status AtomicFile::Commit() {
  if (fsync(file_.get()) != 0) {
    return ErrnoError("cannot sync", folder_.PathOf(temporary_));
  }
  if (!folder_.IsNamed(file_, temporary_)) {
    return absl::AbortedError(
        absl::StrCat(folder_.PathOf(temporary_),
                     " is another file now; does another process write ",
                     folder_.PathOf(name_), "?"));
  }
  RETURN_IF_ERROR(folder_.Rename(temporary_, name_));
  is_committed_ = true;
  return folder_.Sync();
}

}  // namespace paceline
