#include "coordinator/store/file_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/file_descriptor.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"
#include "common/base/unexpected_value.h"
#include "common/base/write_all.h"
#include "coordinator/store/disk_reserve.h"

namespace paceline {
namespace {

constexpr int64_t kHashedBytes = 1 << 20;
// What may be lost of a beginning, and how long a whole file's last sync takes.
constexpr uint64_t kBytesBetweenSyncs = 64 << 20;

absl::Status CheckHash(const std::string& sha256) {
  if (IsSha256Hex(sha256)) return absl::OkStatus();
  return UnexpectedValue("sha256", sha256,
                         "64 hexadecimal digits in lower case");
}

// What is below a folder and has a hash for its name.
absl::StatusOr<std::vector<std::filesystem::path>> HashesBelow(
    const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::recursive_directory_iterator();
       entries.increment(error)) {
    if (IsSha256Hex(entries->path().filename().string())) {
      paths.push_back(entries->path());
    }
  }
  if (!error) return paths;
  return ErrnoError("cannot read", folder, error);
}

// Makes the file one that was written now. False: there is none.
bool Touch(const std::string& path) {
  return utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

// Hashes the first `size` bytes.
absl::StatusOr<Sha256> HashBeginning(const std::string& path, uint64_t size) {
  Sha256 hash;
  if (size == 0) return hash;
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file,
                   OpenRandomAccess(path));
  const auto end = std::min(static_cast<int64_t>(size), file->size_bytes());
  std::string piece;
  for (int64_t offset = 0; offset < end;
       offset += static_cast<int64_t>(piece.size())) {
    piece.resize(static_cast<size_t>(std::min(end - offset, kHashedBytes)));
    RETURN_IF_ERROR(file->ReadAt(
        offset, {reinterpret_cast<std::byte*>(piece.data()), piece.size()}));
    hash.Update(piece);
  }
  return hash;
}

// After a sync that failed. What was not synced may be gone, and another sync
// would not say so.
absl::Status SyncError(const std::string& path) {
  return absl::DataLossError(absl::StrCat(
      ErrnoError("cannot sync", path).message(), "; the file begins anew"));
}

// Renames the file, so that it survives a crash, into a folder that may be new.
absl::Status MoveDurably(const std::string& from, const std::string& to) {
  const std::filesystem::path folder = std::filesystem::path(to).parent_path();
  if (mkdir(folder.c_str(), 0777) == 0) {
    RETURN_IF_ERROR(SyncDirectory(folder.parent_path().string()));
  } else if (errno != EEXIST) {
    return ErrnoError("cannot create folder", folder.string());
  }
  if (rename(from.c_str(), to.c_str()) != 0) {
    return ErrnoError("cannot rename to", to);
  }
  return SyncDirectory(folder.string());
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileStore>> FileStore::Open(
    const std::string& folder, const FileStoreOptions& options) {
  RETURN_IF_ERROR(MakeDirectories(folder + "/files"));
  RETURN_IF_ERROR(MakeDirectories(folder + "/partial"));
  std::unique_ptr<FileStore> store(new FileStore(folder, options));
  const MutexLock lock(store->mutex_);
  RETURN_IF_ERROR(store->FindAll());
  return store;
}

FileStore::FileStore(std::string folder, const FileStoreOptions& options)
    : folder_(std::move(folder)), options_(options) {}

std::string FileStore::WholePath(const std::string& sha256) const {
  return absl::StrCat(folder_, "/files/", sha256.substr(0, 2), "/", sha256);
}

std::string FileStore::PartialPath(const std::string& sha256) const {
  return absl::StrCat(folder_, "/partial/", sha256);
}

absl::Status FileStore::FindAll() {
  ASSIGN_OR_RETURN(const auto whole, HashesBelow(folder_ + "/files"));
  for (const std::filesystem::path& path : whole) {
    ASSIGN_OR_RETURN(const int64_t size, FileSize(path.string()));
    used_bytes_ += InBlocks(size);
  }
  ASSIGN_OR_RETURN(const auto partial, HashesBelow(folder_ + "/partial"));
  for (const std::filesystem::path& path : partial) {
    ASSIGN_OR_RETURN(const int64_t size, FileSize(path.string()));
    partials_[path.filename().string()].received = size;
    used_bytes_ += InBlocks(size);
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::FileProgress> FileStore::Find(const std::string& sha256) {
  RETURN_IF_ERROR(CheckHash(sha256));
  const MutexLock lock(mutex_);
  return FindLocked(sha256);
}

absl::StatusOr<v1::FileProgress> FileStore::FindLocked(
    const std::string& sha256) {
  v1::FileProgress progress;
  const std::string path = WholePath(sha256);
  if (Touch(path)) {
    ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
    progress.set_is_complete(true);
    progress.set_received_bytes(size);
    return progress;
  }
  const auto partial = partials_.find(sha256);
  if (partial == partials_.end()) return progress;
  progress.set_received_bytes(partial->second.received);
  return progress;
}

absl::Status FileStore::CheckFree(const std::string& sha256) const {
  const auto partial = partials_.find(sha256);
  if (partial == partials_.end() || !partial->second.is_busy) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      absl::StrCat("file ", sha256, ": another call adds to it"));
}

absl::StatusOr<v1::FileProgress> FileStore::Append(const std::string& sha256,
                                                   uint64_t size,
                                                   uint64_t offset,
                                                   absl::string_view bytes) {
  RETURN_IF_ERROR(CheckHash(sha256));
  if (offset > size || bytes.size() > size - offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("file ", sha256, ": ", bytes.size(), " bytes at ", offset,
                     " do not fit into its size of ", size));
  }
  v1::FileProgress progress;
  Partial* partial = nullptr;
  {
    const MutexLock lock(mutex_);
    RETURN_IF_ERROR(CheckFree(sha256));
    ASSIGN_OR_RETURN(progress, FindLocked(sha256));
    const uint64_t received = progress.received_bytes();
    if (progress.is_complete()) {
      if (received == size) return progress;
      return absl::InvalidArgumentError(absl::StrCat(
          "file ", sha256, ": has ", received, " bytes, not ", size));
    }
    if (received > size) {
      Discard(sha256);
      return absl::DataLossError(absl::StrCat("file ", sha256,
                                              ": began as one of more than ",
                                              size, " bytes; it begins anew"));
    }
    if (offset > received) {
      return absl::OutOfRangeError(
          absl::StrCat("file ", sha256, ": a piece begins at ", offset,
                       "; the next one should begin at ", received));
    }
    // A piece that was there changes nothing, but the file may have been left
    // just before it was made whole.
    if (offset < received) bytes = {};
    if (offset < received && received < size) return progress;
    RETURN_IF_ERROR(CheckLimits(sha256, size));
    partial = &Begin(sha256, bytes.size());
  }
  const absl::StatusOr<bool> added = Add(sha256, *partial, size, bytes);
  const MutexLock lock(mutex_);
  End(sha256, bytes.size(), added);
  RETURN_IF_ERROR(added.status());
  progress.set_received_bytes(progress.received_bytes() + bytes.size());
  progress.set_is_complete(*added);
  return progress;
}

absl::Status FileStore::CheckLimits(const std::string& sha256,
                                    uint64_t size) const {
  if (size > options_.max_file_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("file ", sha256, ": ", size,
                                                   " bytes; a file may have ",
                                                   options_.max_file_bytes));
  }
  const auto partial = partials_.find(sha256);
  const bool is_new = partial == partials_.end();
  const uint64_t received = is_new ? 0 : partial->second.received;
  const uint64_t after =
      used_bytes_ - (is_new ? 0 : InBlocks(received)) + InBlocks(size);
  if (after > options_.max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "file ", sha256, ": with its ", size, " bytes all files would have ",
        after, "; together they may have ", options_.max_bytes));
  }
  return CheckDiskReserve(folder_, size - received, options_.min_free_bytes);
}

FileStore::Partial& FileStore::Begin(const std::string& sha256,
                                     uint64_t piece_bytes) {
  const auto [entry, is_new] = partials_.try_emplace(sha256);
  Partial& partial = entry->second;
  partial.is_busy = true;
  used_bytes_ += InBlocks(partial.received + piece_bytes) -
                 (is_new ? 0 : InBlocks(partial.received));
  return partial;
}

void FileStore::End(const std::string& sha256, uint64_t piece_bytes,
                    const absl::StatusOr<bool>& added) {
  Partial& partial = partials_.at(sha256);
  partial.is_busy = false;
  if (added.ok()) {
    partial.received += piece_bytes;
    if (*added) partials_.erase(sha256);
    return;
  }
  used_bytes_ -=
      InBlocks(partial.received + piece_bytes) - InBlocks(partial.received);
  if (absl::IsDataLoss(added.status()) || partial.received == 0) {
    Discard(sha256);
  }
}

absl::StatusOr<bool> FileStore::Add(const std::string& sha256, Partial& partial,
                                    uint64_t size,
                                    absl::string_view bytes) const {
  const std::string path = PartialPath(sha256);
  if (!partial.hash.has_value()) {
    absl::StatusOr<Sha256> hash = HashBeginning(path, partial.received);
    if (absl::IsNotFound(hash.status())) {
      return absl::DataLossError(
          absl::StrCat("file ", sha256, ": its beginning is gone"));
    }
    RETURN_IF_ERROR(hash.status());
    partial.hash = *std::move(hash);
  }
  RETURN_IF_ERROR(Write(path, partial, bytes));
  if (partial.received + bytes.size() < size) return false;
  absl::Status completed = Complete(sha256, partial, size);
  if (completed.ok()) return true;
  // It is of the piece, too, which does not count as received.
  partial.hash.reset();
  return completed;
}

absl::Status FileStore::Write(const std::string& path, Partial& partial,
                              absl::string_view bytes) const {
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.is_open()) return ErrnoError("cannot open", path);
  RETURN_IF_ERROR(WriteAllAt(file, path, partial.received, bytes));
  const uint64_t after = partial.received + bytes.size();
  if (partial.received / kBytesBetweenSyncs != after / kBytesBetweenSyncs &&
      fdatasync(file.get()) != 0) {
    return SyncError(path);
  }
  partial.hash->Update(bytes);
  return absl::OkStatus();
}

// Makes a beginning that has all of the file's bytes the whole file.
absl::Status FileStore::Complete(const std::string& sha256,
                                 const Partial& partial, uint64_t size) const {
  const std::string path = PartialPath(sha256);
  if (const std::string found = partial.hash->Hex(); found != sha256) {
    return absl::DataLossError(absl::StrCat("file ", sha256, ": its ", size,
                                            " bytes have the SHA-256 ", found,
                                            "; it begins anew"));
  }
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) return ErrnoError("cannot open", path);
  // A piece that could not be written whole may have left more.
  if (ftruncate(file.get(), static_cast<off_t>(size)) != 0 ||
      fsync(file.get()) != 0) {
    return SyncError(path);
  }
  return MoveDurably(path, WholePath(sha256));
}

void FileStore::Discard(const std::string& sha256) {
  unlink(PartialPath(sha256).c_str());
  const auto partial = partials_.find(sha256);
  used_bytes_ -= InBlocks(partial->second.received);
  partials_.erase(partial);
}

absl::StatusOr<std::string> FileStore::Read(const std::string& sha256,
                                            uint64_t offset,
                                            uint64_t max_bytes) const {
  RETURN_IF_ERROR(CheckHash(sha256));
  const std::string path = WholePath(sha256);
  // Who begins to read wants the rest, too.
  if (offset == 0) Touch(path);
  absl::StatusOr<std::unique_ptr<RandomAccess>> file = OpenRandomAccess(path);
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(
        absl::StrCat("file ", sha256, ": there is no whole one"));
  }
  RETURN_IF_ERROR(file.status());
  const auto size = static_cast<uint64_t>((*file)->size_bytes());
  if (offset > size) {
    return absl::OutOfRangeError(absl::StrCat("file ", sha256, ": has ", size,
                                              " bytes, so none at ", offset));
  }
  std::string piece(std::min(max_bytes, size - offset), '\0');
  RETURN_IF_ERROR((*file)->ReadAt(
      static_cast<int64_t>(offset),
      {reinterpret_cast<std::byte*>(piece.data()), piece.size()}));
  return piece;
}

absl::StatusOr<int> FileStore::Sweep(const std::set<std::string>& needed,
                                     absl::Duration min_age) {
  const absl::Time before = absl::Now() - min_age;
  int deleted = 0;
  ASSIGN_OR_RETURN(const auto files, HashesBelow(folder_));
  for (const std::filesystem::path& path : files) {
    const std::string sha256 = path.filename().string();
    if (needed.count(sha256) > 0) continue;
    // For each file anew, so that others need not wait for all.
    const MutexLock lock(mutex_);
    struct stat information = {};
    if (stat(path.c_str(), &information) != 0 ||
        absl::TimeFromTimespec(information.st_mtim) > before) {
      continue;
    }
    const auto partial = partials_.find(sha256);
    if (partial != partials_.end() && partial->second.is_busy) continue;
    ++deleted;
    if (partial != partials_.end()) {
      Discard(sha256);
    } else if (unlink(path.c_str()) == 0) {
      used_bytes_ -= InBlocks(information.st_size);
    } else {
      return ErrnoError("cannot delete", path.string());
    }
  }
  return deleted;
}

uint64_t FileStore::used_bytes() const {
  const MutexLock lock(mutex_);
  return used_bytes_;
}

}  // namespace paceline
