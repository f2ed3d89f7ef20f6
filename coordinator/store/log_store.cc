#include "coordinator/store/log_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"
#include "common/base/names.h"
#include "common/base/random_access.h"
#include "common/base/size_text.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"
#include "coordinator/store/disk_reserve.h"

namespace paceline {
namespace {

absl::Status RemoveFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return absl::OkStatus();
  return ErrnoError("cannot delete", path, error);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogStore>> LogStore::Open(
    const std::string& folder, const LogStoreOptions& options) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  std::unique_ptr<LogStore> store(new LogStore(folder, options));
  const MutexLock lock(store->mutex_);
  RETURN_IF_ERROR(store->FindAll());
  return store;
}

absl::Status LogStore::FindAll() {
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder_, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    if (!entry->is_regular_file(error) || error) continue;
    const std::filesystem::path path =
        entry->path().lexically_relative(folder_);
    bytes_of_job_[path.begin()->string()] += entry->file_size(error);
  }
  if (!error) return absl::OkStatus();
  return ErrnoError("cannot read", folder_, error);
}

std::string LogStore::FolderOf(const std::string& job_id,
                               uint32_t generation) const {
  return absl::StrCat(folder_, "/", job_id, "/", generation);
}

absl::StatusOr<uint64_t> LogStore::Append(const std::string& job_id,
                                          uint32_t generation, TaskId task,
                                          uint64_t offset,
                                          absl::string_view text) {
  RETURN_IF_ERROR(CheckSafeName("job", job_id));
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
  std::string last_line;
  if (text.size() > limit - size) {
    last_line = absl::StrCat("\n[the log has reached its limit of ",
                             SizeText(limit), "; what follows is not kept]\n");
  }
  const absl::string_view kept = text.substr(0, limit - size);
  if (const uint64_t bytes = kept.size() + last_line.size(); bytes > 0) {
    RETURN_IF_ERROR(CheckDiskReserve(folder_, bytes, options_.min_free_bytes));
  }
  absl::Status written = WriteAll(file, path, kept);
  if (written.ok()) written = WriteAll(file, path, last_line);
  // Also what a full disk has cut short.
  if (fstat(file.get(), &information) == 0) {
    bytes_of_job_[job_id] += static_cast<uint64_t>(information.st_size) - size;
  }
  RETURN_IF_ERROR(written);
  return size + text.size();
}

absl::StatusOr<LogPiece> LogStore::Read(const std::string& job_id,
                                        uint32_t generation, TaskId task,
                                        int64_t offset,
                                        uint64_t max_bytes) const {
  RETURN_IF_ERROR(CheckSafeName("job", job_id));
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

std::map<std::string, uint64_t> LogStore::BytesByJob() const {
  const MutexLock lock(mutex_);
  return bytes_of_job_;
}

absl::Status LogStore::Remove(const std::string& job_id) {
  RETURN_IF_ERROR(CheckSafeName("job", job_id));
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(RemoveFolder(absl::StrCat(folder_, "/", job_id)));
  bytes_of_job_.erase(job_id);
  return absl::OkStatus();
}

absl::Status LogStore::RemoveAllBut(const std::set<std::string>& job_ids) {
  const MutexLock lock(mutex_);
  std::error_code error;
  std::filesystem::directory_iterator entries(folder_, error);
  for (; !error && entries != std::filesystem::directory_iterator();
       entries.increment(error)) {
    const std::string id = entries->path().filename().string();
    if (job_ids.count(id) > 0) continue;
    RETURN_IF_ERROR(RemoveFolder(entries->path().string()));
    bytes_of_job_.erase(id);
  }
  if (!error) return absl::OkStatus();
  return ErrnoError("cannot read", folder_, error);
}

}  // namespace paceline
