// Memory that processes of one user on one machine share, without a name in a
// file system.
#ifndef PACELINE_COMMON_SHARED_MEMORY_SHARED_REGION_H_
#define PACELINE_COMMON_SHARED_MEMORY_SHARED_REGION_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace paceline {

// How a process finds the region of another process on the same machine: a
// descriptor of that process, and the file that it must refer to. Useless on
// other machines and for other users.
struct RegionReference {
  uint64_t process = 0;
  uint64_t fd = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
};

// A mapped memfd. Its pages are reserved when it is created, so that a lack of
// memory is an error then and no SIGBUS later. Its size is sealed, so that no
// peer can shrink it. It is freed with the last mapping or descriptor.
class SharedRegion {
 public:
  // Creates zeroed memory. ResourceExhausted if there is not enough memory.
  static absl::StatusOr<SharedRegion> Create(size_t size);
  // Maps a region that a peer created; takes ownership of `fd`.
  // PermissionDenied if it belongs to another user; InvalidArgument if it is no
  // region.
  static absl::StatusOr<SharedRegion> Open(int fd);
  // Maps a region that another, living process refers to. Errors as above;
  // Unavailable if this process cannot open it. The caller must check by the
  // region's content that the reference is not of another machine, where the
  // same numbers may exist by accident.
  static absl::StatusOr<SharedRegion> Open(const RegionReference& reference);

  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  ~SharedRegion();

  absl::Span<std::byte> memory() const { return memory_; }
  // The region keeps ownership.
  int fd() const { return fd_; }
  // A reference for peers, if this process created the region.
  absl::StatusOr<RegionReference> reference() const;

 private:
  SharedRegion(int fd, absl::Span<std::byte> memory)
      : fd_(fd), memory_(memory) {}

  int fd_ = -1;
  absl::Span<std::byte> memory_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_SHARED_REGION_H_
