#include "common/remote_file/cache_entry.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/errno_error.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/base/write_all.h"
#include "common/identity/sha256.h"

namespace paceline {
namespace {

constexpr absl::Duration kLookInterval = absl::Milliseconds(50);
// How much of a part may be in memory alone.
constexpr int64_t kMaxUnsyncedBytes = 64 << 20;
constexpr int64_t kMaxNoteBytes = 1 << 10;

int64_t SizeAt(const std::string& path) {
  struct stat information = {};
  return lstat(path.c_str(), &information) == 0 ? information.st_size : 0;
}

// When the file was changed, in nanoseconds; 0: it is not there.
int64_t ChangeTime(const std::string& path) {
  struct stat information = {};
  return lstat(path.c_str(), &information) == 0
             ? absl::ToUnixNanos(absl::TimeFromTimespec(information.st_mtim))
             : 0;
}

// Tells apart the times from one start of the machine to the next; "" if it
// cannot.
std::string BootId() {
  const std::string text =
      ReadFile("/proc/sys/kernel/random/boot_id", kMaxNoteBytes).value_or("");
  return std::string(absl::StripAsciiWhitespace(text));
}

// How much of a part has been synced, and by which boot.
struct SyncedPart {
  std::string boot_id;
  int64_t bytes = 0;
};

SyncedPart ReadSyncedPart(const std::string& path) {
  SyncedPart part;
  const std::vector<std::string> words = absl::StrSplit(
      ReadFile(path, kMaxNoteBytes).value_or(""), absl::MaxSplits(' ', 1));
  if (words.size() != 2 || !absl::SimpleAtoi(words[1], &part.bytes) ||
      part.bytes < 0) {
    return {};
  }
  part.boot_id = words[0];
  return part;
}

}  // namespace

absl::StatusOr<FileDescriptor> LockFile(
    const std::string& path, absl::Duration patience,
    const std::function<int64_t()>& progress) {
  FileDescriptor file(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return ErrnoError("cannot open", path);
  absl::Time begin = MonotonicNow();
  int64_t last = -1;
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return ErrnoError("cannot lock", path);
    }
    const int64_t now = progress();
    if (std::exchange(last, now) != now) begin = MonotonicNow();
    if (MonotonicNow() - begin > patience) {
      return absl::DeadlineExceededError(absl::StrCat(
          "another process has had ", path, " for ",
          absl::FormatDuration(patience), " and does not get further"));
    }
    absl::SleepFor(kLookInterval);
  }
  return file;
}

void RemoveNotesOfPart(const std::string& folder) {
  for (const char* const note :
       {"/part.version", "/part.synced", "/part.room"}) {
    unlink((folder + note).c_str());
  }
}

absl::StatusOr<CacheEntry> CacheEntry::Open(
    const std::string& cache, const std::string& address,
    const std::string& name, absl::Duration patience,
    const std::function<void(bool goes_on)>& waits) {
  const std::string folder = absl::StrCat(cache, "/", Sha256Hex(address));
  RETURN_IF_ERROR(MakeDirectories(folder));
  const std::string part = folder + "/part";
  int64_t before = ChangeTime(part);
  ASSIGN_OR_RETURN(FileDescriptor lock,
                   LockFile(folder + "/lock", patience, [&] {
                     const int64_t now = ChangeTime(part);
                     waits(std::exchange(before, now) != now);
                     return now;
                   }));
  CacheEntry entry(folder, name, std::move(lock));
  RETURN_IF_ERROR(entry.OpenPart());
  return entry;
}

absl::Status CacheEntry::OpenPart() {
  const std::string path = part_path();
  part_ = FileDescriptor(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!part_.is_open()) return ErrnoError("cannot open", path);
  const std::optional<FileVersion> version = ReadVersion(path + ".version");
  if (!version) return absl::OkStatus();
  part_version_ = *version;
  part_bytes_ = SizeAt(path);
  const SyncedPart synced = ReadSyncedPart(path + ".synced");
  synced_bytes_ = std::min(part_bytes_, synced.bytes);
  const std::string boot_id = BootId();
  if (!boot_id.empty() && boot_id == synced.boot_id) return absl::OkStatus();
  part_bytes_ = synced_bytes_;
  if (ftruncate(part_.get(), part_bytes_) != 0) {
    return ErrnoError("cannot shorten", path);
  }
  return SyncPart();
}

CacheEntry::CacheEntry(std::string folder, std::string name,
                       FileDescriptor lock)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      lock_(std::move(lock)) {}

std::string CacheEntry::PathOf(const FileVersion& version) const {
  return absl::StrCat(folder_, "/", version.sha256, "/", name_);
}

std::optional<CachedFile> CacheEntry::Find() const {
  const FileVersion found = version();
  if (found.sha256.empty()) return std::nullopt;
  std::string path = PathOf(found);
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat information = {};
  // One that is being removed is locked, or has no name left.
  if (!file.is_open() || flock(file.get(), LOCK_SH | LOCK_NB) != 0 ||
      fstat(file.get(), &information) != 0 || information.st_nlink == 0 ||
      information.st_size != found.bytes) {
    return std::nullopt;
  }
  // If it cannot, the file counts as older than it is.
  futimens(file.get(), nullptr);
  return CachedFile(std::move(path), std::move(file));
}

FileVersion CacheEntry::version() const {
  return ReadVersion(folder_ + "/version").value_or(FileVersion());
}

absl::Status CacheEntry::Begin(const FileVersion& version) {
  RETURN_IF_ERROR(DropPart());
  RETURN_IF_ERROR(WriteVersion(version, part_path() + ".version"));
  part_version_ = version;
  return SyncPart();
}

absl::Status CacheEntry::SetPartSize(int64_t bytes) {
  if (part_version_.bytes == bytes) return absl::OkStatus();
  part_version_.bytes = bytes;
  return WriteVersion(part_version_, part_path() + ".version");
}

absl::Status CacheEntry::DropPart() {
  part_bytes_ = 0;
  synced_bytes_ = 0;
  part_version_ = FileVersion();
  RemoveNotesOfPart(folder_);
  return ftruncate(part_.get(), 0) == 0
             ? absl::OkStatus()
             : ErrnoError("cannot shorten", part_path());
}

absl::Status CacheEntry::Append(absl::string_view bytes) {
  RETURN_IF_ERROR(WriteAllAt(part_, part_path(),
                             static_cast<uint64_t>(part_bytes_), bytes));
  part_bytes_ += static_cast<int64_t>(bytes.size());
  if (part_bytes_ - synced_bytes_ < kMaxUnsyncedBytes) return absl::OkStatus();
  return SyncPart();
}

absl::Status CacheEntry::SyncPart() {
  if (fdatasync(part_.get()) != 0) {
    return ErrnoError("cannot sync", part_path());
  }
  RETURN_IF_ERROR(WriteFileAtomically(
      part_path() + ".synced", absl::StrCat(BootId(), " ", part_bytes_)));
  synced_bytes_ = part_bytes_;
  return absl::OkStatus();
}

void CacheEntry::ShowProgress() const { futimens(part_.get(), nullptr); }

absl::StatusOr<CachedFile> CacheEntry::Complete(const std::string& sha256) {
  FileVersion complete = part_version_;
  complete.sha256 = sha256;
  complete.bytes = part_bytes_;
  const std::string path = PathOf(complete);
  RETURN_IF_ERROR(MakeDirectories(folder_ + "/" + sha256));
  // The server names the same content anew, and others may use it.
  if (SizeAt(path) == complete.bytes) {
    RETURN_IF_ERROR(WriteVersion(complete, folder_ + "/version"));
    if (std::optional<CachedFile> found = Find()) {
      RETURN_IF_ERROR(DropPart());
      return *std::move(found);
    }
  }
  if (fsync(part_.get()) != 0) return ErrnoError("cannot sync", part_path());
  // Before others can see it, who may take it for unused.
  if (flock(part_.get(), LOCK_SH | LOCK_NB) != 0) {
    return ErrnoError("cannot lock", part_path());
  }
  if (rename(part_path().c_str(), path.c_str()) != 0) {
    return ErrnoError("cannot make", path);
  }
  RemoveNotesOfPart(folder_);
  RETURN_IF_ERROR(SyncDirectory(folder_ + "/" + sha256));
  RETURN_IF_ERROR(WriteVersion(complete, folder_ + "/version"));
  part_bytes_ = 0;
  synced_bytes_ = 0;
  part_version_ = FileVersion();
  return CachedFile(path, std::move(part_));
}

}  // namespace paceline
