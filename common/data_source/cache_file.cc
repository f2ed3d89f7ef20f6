#include "common/data_source/cache_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/crc32c.h"
#include "common/base/errno_error.h"
#include "common/base/status_macros.h"
#include "common/limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

using SlotContent = CacheSlot::Content;

constexpr absl::string_view kMagic = "PLCACHE\n";
constexpr uint32_t kVersion = 1;
constexpr int64_t kSourceBytes = 64;
constexpr int64_t kHeaderBytes = 96;
// Where the checksum of the header is.
constexpr size_t kChecksumAt = 12;
constexpr int64_t kSlotHeaderBytes = 16;
// So much is read of a slot before it is known whether there is anything.
constexpr int64_t kFirstReadBytes = 4096;
// Another process writes its header meanwhile.
constexpr absl::Duration kLockPatience = absl::Seconds(30);
constexpr absl::Duration kLockInterval = absl::Milliseconds(5);

struct SlotHeader {
  uint32_t checksum;
  uint32_t content;
  uint64_t size;
};
static_assert(sizeof(SlotHeader) == kSlotHeaderBytes);

absl::Span<const std::byte> RawBytesOf(absl::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

template <typename T>
void AppendRaw(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string HeaderOf(const CacheFile::Owner& owner) {
  std::string header(kMagic);
  AppendRaw(kVersion, header);
  AppendRaw(uint32_t{0}, header);
  header += owner.source;
  AppendRaw(static_cast<uint64_t>(owner.slots), header);
  AppendRaw(static_cast<uint64_t>(owner.capacity_bytes), header);
  CHECK_EQ(std::ssize(header), kHeaderBytes);
  const uint32_t checksum = ExtendCrc32c(0, RawBytesOf(header));
  std::memcpy(header.data() + kChecksumAt, &checksum, sizeof(checksum));
  return header;
}

// Of the slot that `bytes` are, the checksum's own place aside.
uint32_t SlotChecksum(int64_t index, absl::Span<const std::byte> bytes) {
  const auto number = static_cast<uint64_t>(index);
  const uint32_t crc = ExtendCrc32c(
      0, {reinterpret_cast<const std::byte*>(&number), sizeof(number)});
  return ExtendCrc32c(crc, bytes.subspan(sizeof(SlotHeader::checksum)));
}

// Reads as many bytes as there are; -1, with errno, on an error.
int64_t ReadUpTo(int fd, std::byte* out, int64_t size, int64_t offset) {
  int64_t done = 0;
  while (done < size) {
    const ssize_t got = pread(fd, out + done, size - done, offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += got;
  }
  return done;
}

// Whether all is written; else errno says why.
bool WriteWhole(int fd, const std::byte* bytes, int64_t size, int64_t offset) {
  while (size > 0) {
    const ssize_t put = pwrite(fd, bytes, size, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put;
    size -= put;
    offset += put;
  }
  return true;
}

constexpr int kOpenFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Opens or makes a file below the working folder, without following links; -1,
// with errno, on an error.
int OpenBelowWorkingFolder(const std::string& path) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  FileDescriptor folder(open(".", kFolderFlags));
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (!folder.is_open()) return -1;
    folder =
        FileDescriptor(openat(folder.get(), parts[i].c_str(), kFolderFlags));
  }
  if (!folder.is_open()) return -1;
  return openat(folder.get(), parts.back().c_str(), kOpenFlags | O_NOFOLLOW,
                0666);
}

absl::Status NoRegularFile(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is no regular file; expected one, or none yet"));
}

absl::StatusOr<FileDescriptor> OpenOrMake(const std::string& path) {
  FileDescriptor file(path.starts_with('/')
                          ? open(path.c_str(), kOpenFlags, 0666)
                          : OpenBelowWorkingFolder(path));
  if (!file.is_open()) {
    if (errno == EISDIR) return NoRegularFile(path);
    const absl::Status error = ErrnoError("cannot write", path);
    if (errno != ELOOP && errno != ENOTDIR) return error;
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": leads through a link, or through what is no folder; expected "
        "a file in a folder"));
  }
  struct stat state = {};
  if (fstat(file.get(), &state) != 0) return ErrnoError("cannot read", path);
  if (!S_ISREG(state.st_mode)) return NoRegularFile(path);
  return file;
}

// While it lives, no other process looks at the header.
class HeaderLock {
 public:
  static absl::StatusOr<HeaderLock> Take(const FileDescriptor& file,
                                         const std::string& path) {
    const absl::Time deadline = MonotonicNow() + kLockPatience;
    while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) {
        return ErrnoError("cannot lock", path);
      }
      if (MonotonicNow() > deadline) {
        return absl::DeadlineExceededError(
            absl::StrCat(path, ": another process has had its lock for ",
                         absl::FormatDuration(kLockPatience)));
      }
      absl::SleepFor(kLockInterval);
    }
    return HeaderLock(file.get());
  }
  HeaderLock(HeaderLock&& other) noexcept
      : file_(std::exchange(other.file_, -1)) {}
  HeaderLock& operator=(HeaderLock&&) = delete;
  ~HeaderLock() {
    if (file_ >= 0) flock(file_, LOCK_UN);
  }

 private:
  explicit HeaderLock(int file) : file_(file) {}
  int file_;
};

absl::Status NoCacheFile(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": is no cache of examples, or a damaged one; expected the name of a new "
      "file, or that this one is deleted"));
}

// Why the header of a file is not the expected one.
absl::Status WrongHeader(const std::string& path, const std::string& found) {
  if (std::ssize(found) < kHeaderBytes || !absl::StartsWith(found, kMagic)) {
    return NoCacheFile(path);
  }
  uint32_t version = 0;
  std::memcpy(&version, found.data() + kMagic.size(), sizeof(version));
  if (version != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is a cache of version ", version, "; expected version ",
        kVersion, ": delete the file, or name another"));
  }
  CacheFile::Owner owner;
  owner.source = found.substr(kChecksumAt + 4, kSourceBytes);
  const char* const numbers = found.data() + kChecksumAt + 4 + kSourceBytes;
  std::memcpy(&owner.slots, numbers, 8);
  std::memcpy(&owner.capacity_bytes, numbers + 8, 8);
  if (HeaderOf(owner) != found) return NoCacheFile(path);
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": has the examples of another source, or files of this one have changed "
      "since; delete the file, or name another"));
}

}  // namespace

CacheSlot::CacheSlot(int64_t capacity_bytes)
    : capacity_bytes_(capacity_bytes),
      blocks_(1 + (capacity_bytes + sizeof(Block) - 1) / sizeof(Block)) {}

absl::Span<std::byte> CacheSlot::bytes() {
  return {blocks_[1].bytes, static_cast<size_t>(capacity_bytes_)};
}

absl::Span<const std::byte> CacheSlot::bytes() const {
  return {blocks_[1].bytes, static_cast<size_t>(capacity_bytes_)};
}

absl::StatusOr<std::unique_ptr<CacheFile>> CacheFile::Open(
    const std::string& path, const Owner& owner) {
  CHECK_EQ(std::ssize(owner.source), kSourceBytes);
  CHECK(owner.slots > 0 && owner.capacity_bytes > 0);
  if (owner.capacity_bytes > limits::kMaxDataFileBytes ||
      owner.slots > (limits::kMaxDataFileBytes - kHeaderBytes) /
                        (kSlotHeaderBytes + owner.capacity_bytes)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        path, ": ", owner.slots, " examples of ", owner.capacity_bytes,
        " bytes; expected at most ", limits::kMaxDataFileBytes, " bytes"));
  }
  ASSIGN_OR_RETURN(FileDescriptor descriptor, OpenOrMake(path));
  std::unique_ptr<CacheFile> file =
      absl::WrapUnique(new CacheFile(path, std::move(descriptor), owner));
  RETURN_IF_ERROR(file->TakeOrCheckHeader());
  return file;
}

CacheFile::CacheFile(std::string path, FileDescriptor file, const Owner& owner)
    : path_(std::move(path)), file_(std::move(file)), owner_(owner) {}

absl::Status CacheFile::TakeOrCheckHeader() const {
  ASSIGN_OR_RETURN(const HeaderLock lock, HeaderLock::Take(file_, path_));
  const std::string expected = HeaderOf(owner_);
  std::string found(kHeaderBytes, '\0');
  const int64_t size = ReadUpTo(
      file_.get(), reinterpret_cast<std::byte*>(found.data()), kHeaderBytes, 0);
  if (size < 0) return ErrnoError("cannot read", path_);
  found.resize(size);
  if (found == expected) return absl::OkStatus();
  // Who began to write the header may have died.
  if (!expected.starts_with(found)) return WrongHeader(path_, found);
  if (!WriteWhole(file_.get(), RawBytesOf(expected).data(), kHeaderBytes, 0) ||
      fdatasync(file_.get()) != 0) {
    return ErrnoError("cannot write", path_);
  }
  return absl::OkStatus();
}

int64_t CacheFile::OffsetOf(int64_t index) const {
  return kHeaderBytes + index * (kSlotHeaderBytes + owner_.capacity_bytes);
}

SlotContent CacheFile::Read(int64_t index, CacheSlot& slot) const {
  CHECK(index >= 0 && index < owner_.slots);
  CHECK_EQ(slot.capacity_bytes_, owner_.capacity_bytes);
  std::byte* const begin = slot.blocks_[0].bytes;
  const int64_t size = kSlotHeaderBytes + owner_.capacity_bytes;
  const int64_t first = std::min(size, kFirstReadBytes);
  if (ReadUpTo(file_.get(), begin, first, OffsetOf(index)) != first) {
    return SlotContent::kNothing;
  }
  SlotHeader header = {};
  std::memcpy(&header, begin, sizeof(header));
  const auto content = static_cast<SlotContent>(header.content);
  if (content != SlotContent::kValues && content != SlotContent::kDataLoss &&
      content != SlotContent::kInvalidArgument) {
    return SlotContent::kNothing;
  }
  const auto capacity = static_cast<uint64_t>(owner_.capacity_bytes);
  if (header.size > capacity ||
      (content == SlotContent::kValues && header.size != capacity) ||
      ReadUpTo(file_.get(), begin + first, size - first,
               OffsetOf(index) + first) != size - first ||
      SlotChecksum(index, {begin, static_cast<size_t>(size)}) !=
          header.checksum) {
    return SlotContent::kNothing;
  }
  return content;
}

absl::string_view CacheFile::ErrorText(const CacheSlot& slot) {
  SlotHeader header = {};
  std::memcpy(&header, slot.blocks_[0].bytes, sizeof(header));
  const absl::Span<const std::byte> bytes = slot.bytes();
  return {reinterpret_cast<const char*>(bytes.data()),
          std::min<size_t>(header.size, bytes.size())};
}

void CacheFile::WriteValues(int64_t index, CacheSlot& slot) const {
  Write(index, SlotContent::kValues, owner_.capacity_bytes, slot);
}

void CacheFile::WriteError(int64_t index, SlotContent content,
                           absl::string_view text, CacheSlot& slot) const {
  CHECK(content == SlotContent::kDataLoss ||
        content == SlotContent::kInvalidArgument);
  if (std::ssize(text) > owner_.capacity_bytes) text = "";
  const absl::Span<std::byte> bytes = slot.bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  std::copy_n(RawBytesOf(text).begin(), text.size(), bytes.begin());
  Write(index, content, std::ssize(text), slot);
}

void CacheFile::Write(int64_t index, SlotContent content, int64_t size,
                      CacheSlot& slot) const {
  CHECK(index >= 0 && index < owner_.slots);
  CHECK_EQ(slot.capacity_bytes_, owner_.capacity_bytes);
  if (has_failed_) return;
  std::byte* const begin = slot.blocks_[0].bytes;
  const int64_t slot_bytes = kSlotHeaderBytes + owner_.capacity_bytes;
  SlotHeader header = {0, static_cast<uint32_t>(content),
                       static_cast<uint64_t>(size)};
  std::memcpy(begin, &header, sizeof(header));
  header.checksum =
      SlotChecksum(index, {begin, static_cast<size_t>(slot_bytes)});
  std::memcpy(begin, &header, sizeof(header));
  if (WriteWhole(file_.get(), begin, slot_bytes, OffsetOf(index))) return;
  const absl::Status error = ErrnoError("cannot write", path_);
  if (has_failed_.exchange(true)) return;
  LOG(WARNING) << "cache: " << error.message()
               << "; what it has not yet is read from the source each time";
}

}  // namespace paceline
