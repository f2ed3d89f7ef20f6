#include "coordinator/store/log_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"
#include "common/base/peer_text.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

constexpr size_t kMaxFileName = 255;

absl::Status CheckJobId(const std::string& id) {
  const bool is_safe = std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  if (is_safe && !id.empty() && id.size() <= kMaxFileName && id != "." &&
      id != "..") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "job: \"", PeerText(id), "\"; expected 1 to ", kMaxFileName,
      " letters, digits, '.', '_' and '-', other than \".\" and \"..\""));
}

absl::Status WriteToEnd(const FileDescriptor& file, const std::string& path,
                        absl::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoError("cannot write", path);
    text.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status RemoveFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(),
                             absl::StrCat("cannot delete ", path));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogStore>> LogStore::Open(
    const std::string& folder, const LogStoreOptions& options) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  return std::unique_ptr<LogStore>(new LogStore(folder, options));
}

std::string LogStore::FolderOf(const std::string& job_id,
                               uint32_t generation) const {
  return absl::StrCat(folder_, "/", job_id, "/", generation);
}

absl::StatusOr<uint64_t> LogStore::Append(const std::string& job_id,
                                          uint32_t generation, TaskId task,
                                          uint64_t offset,
                                          absl::string_view text) {
  RETURN_IF_ERROR(CheckJobId(job_id));
  const std::string folder = FolderOf(job_id, generation);
  const std::string path = absl::StrCat(folder, "/", task.ToString(), ".log");
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(MakeDirectories(folder));
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
           0666));
  struct stat information = {};
  if (!file.is_open() || fstat(file.get(), &information) != 0) {
    return ErrnoError("cannot open", path);
  }
  const auto size = static_cast<uint64_t>(information.st_size);
  const uint64_t limit = options_.max_log_bytes;
  // The last line is behind the limit. The daemon goes on as if all were taken.
  if (size > limit) return std::max(limit, offset + text.size());
  if (offset != size) return size;
  RETURN_IF_ERROR(WriteToEnd(file, path, text.substr(0, limit - size)));
  if (text.size() > limit - size) {
    RETURN_IF_ERROR(
        WriteToEnd(file, path,
                   absl::StrCat("\n[the log has reached its limit of ", limit,
                                " bytes; what follows is not kept]\n")));
  }
  return size + text.size();
}

absl::StatusOr<LogPiece> LogStore::Read(const std::string& job_id,
                                        uint32_t generation, TaskId task,
                                        int64_t offset,
                                        uint64_t max_bytes) const {
  RETURN_IF_ERROR(CheckJobId(job_id));
  absl::StatusOr<std::unique_ptr<RandomAccess>> file = OpenRandomAccess(
      absl::StrCat(FolderOf(job_id, generation), "/", task.ToString(), ".log"));
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(absl::StrCat("there is no log of ",
                                            task.ToString(), " of job ", job_id,
                                            ", start ", generation));
  }
  RETURN_IF_ERROR(file.status());
  const int64_t size = (*file)->size_bytes();
  const int64_t begin =
      offset < 0 ? std::max<int64_t>(0, size + offset) : std::min(offset, size);
  LogPiece piece;
  piece.text.resize(std::min(max_bytes, static_cast<uint64_t>(size - begin)));
  RETURN_IF_ERROR((*file)->ReadAt(
      begin,
      {reinterpret_cast<std::byte*>(piece.text.data()), piece.text.size()}));
  piece.next_offset = static_cast<uint64_t>(begin) + piece.text.size();
  return piece;
}

absl::Status LogStore::Remove(const std::string& job_id) {
  RETURN_IF_ERROR(CheckJobId(job_id));
  const MutexLock lock(mutex_);
  return RemoveFolder(absl::StrCat(folder_, "/", job_id));
}

absl::Status LogStore::RemoveAllBut(const std::set<std::string>& job_ids) {
  const MutexLock lock(mutex_);
  std::error_code error;
  std::filesystem::directory_iterator entries(folder_, error);
  for (; !error && entries != std::filesystem::directory_iterator();
       entries.increment(error)) {
    if (job_ids.count(entries->path().filename().string()) == 0) {
      RETURN_IF_ERROR(RemoveFolder(entries->path().string()));
    }
  }
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(),
                             absl::StrCat("cannot read ", folder_));
}

}  // namespace paceline
