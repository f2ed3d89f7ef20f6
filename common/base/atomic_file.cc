#include "common/base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::Status ErrnoError(absl::string_view action, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(action, " ", path));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(
    const std::string& path) {
  std::string temporary = path + ".tmp";
  const int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return ErrnoError("cannot create", temporary);
  return absl::WrapUnique(
      new AtomicFile(path, std::move(temporary), descriptor));
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor) {}

AtomicFile::~AtomicFile() {
  close(descriptor_);
  if (!is_committed_) unlink(temporary_.c_str());
}

absl::Status AtomicFile::Append(absl::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError("cannot write", temporary_);
    content.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (fsync(descriptor_) != 0) return ErrnoError("cannot sync", temporary_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return ErrnoError("cannot rename to", path_);
  }
  is_committed_ = true;
  return SyncDirectory(std::filesystem::path(path_).parent_path().string());
}

}  // namespace paceline
