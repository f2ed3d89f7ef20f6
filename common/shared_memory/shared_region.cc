#include "common/shared_memory/shared_region.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/file_descriptor.h"

namespace paceline {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::Status Errno(absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat("shared memory: ", what));
}

// Maps all of `fd`.
absl::StatusOr<absl::Span<std::byte>> Map(int fd, size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return Errno("mmap");
  return absl::MakeSpan(static_cast<std::byte*>(memory), size);
}

absl::Status Reserve(int fd, size_t size) {
  // Check the free memory first: if more is requested than there is, the kernel
  // kills processes before it refuses.
  const size_t available = static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) *
                           static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (size > available) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "shared memory: no room for ", size, " bytes; there are ", available));
  }
  if (fallocate(fd, 0, 0, static_cast<off_t>(size)) != 0) {
    if (errno == ENOSPC || errno == ENOMEM) {
      return absl::ResourceExhaustedError(
          absl::StrCat("shared memory: no room for ", size, " bytes"));
    }
    return Errno("fallocate");
  }
  if (fcntl(fd, F_ADD_SEALS, kSeals) != 0) return Errno("sealing");
  return absl::OkStatus();
}

absl::StatusOr<size_t> CheckedSize(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return Errno("fstat");
  if (status.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat("shared memory: the peer's region belongs to user ",
                     status.st_uid, ", this process to user ", geteuid()));
  }
  // Refuse huge pages: there may be none left when a page is touched, which
  // causes a SIGBUS.
  struct statfs file_system {};
  if (fstatfs(fd, &file_system) != 0) return Errno("fstatfs");
  if (fcntl(fd, F_GET_SEALS) != kSeals || status.st_size == 0 ||
      file_system.f_type != TMPFS_MAGIC) {
    return absl::InvalidArgumentError(
        "shared memory: what the peer passed is no sealed region");
  }
  return static_cast<size_t>(status.st_size);
}

}  // namespace

absl::StatusOr<SharedRegion> SharedRegion::Create(size_t size) {
  const int fd = memfd_create("paceline", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return Errno("memfd_create");
  SharedRegion region(fd, {});
  if (absl::Status status = Reserve(fd, size); !status.ok()) return status;
  absl::StatusOr<absl::Span<std::byte>> memory = Map(fd, size);
  if (!memory.ok()) return memory.status();
  region.memory_ = *memory;
  return region;
}

absl::StatusOr<SharedRegion> SharedRegion::Open(int fd) {
  SharedRegion region(fd, {});
  const absl::StatusOr<size_t> size = CheckedSize(fd);
  if (!size.ok()) return size.status();
  absl::StatusOr<absl::Span<std::byte>> memory = Map(fd, *size);
  if (!memory.ok()) return memory.status();
  region.memory_ = *memory;
  return region;
}

// Only processes of the same user can open the link in /proc, and it refers to
// the file itself, so no socket has to pass the descriptor.
absl::StatusOr<SharedRegion> SharedRegion::Open(
    const RegionReference& reference) {
  const absl::Status elsewhere =
      absl::UnavailableError("shares no memory with this process");
  if (reference.process == 0) return elsewhere;
  const std::string path =
      absl::StrCat("/proc/", reference.process, "/fd/", reference.fd);
  // Check the file before opening it, since opening something else, such as a
  // device, may have side effects.
  struct stat file {};
  if (stat(path.c_str(), &file) != 0 || file.st_dev != reference.device ||
      file.st_ino != reference.inode) {
    return elsewhere;
  }
  FileDescriptor fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.is_open()) return elsewhere;
  return Open(fd.Release());
}

absl::StatusOr<RegionReference> SharedRegion::reference() const {
  struct stat file {};
  if (fstat(fd_, &file) != 0) return Errno("fstat");
  return RegionReference{static_cast<uint64_t>(getpid()),
                         static_cast<uint64_t>(fd_), file.st_dev, file.st_ino};
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      memory_(std::exchange(other.memory_, {})) {}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(memory_, other.memory_);
  return *this;
}

SharedRegion::~SharedRegion() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
  if (fd_ >= 0) close(fd_);
}

}  // namespace paceline
