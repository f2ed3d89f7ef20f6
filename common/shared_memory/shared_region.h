// Memory that processes of one user on one machine share, without a name.
#ifndef PACELINE_COMMON_SHARED_MEMORY_SHARED_REGION_H_
#define PACELINE_COMMON_SHARED_MEMORY_SHARED_REGION_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace paceline {

// By what processes of one machine find each other's regions: a descriptor of a
// process, and the file it must be. It means nothing on other machines, and
// nothing to other users.
struct RegionReference {
  uint64_t process = 0;
  uint64_t fd = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
};

// A mapped memfd. Its pages are reserved as it is made, so that a full memory
// file system is an error then and no SIGBUS later, and its size is sealed, so
// that no peer can pull them away. It is gone with the last process that maps
// it or holds its descriptor.
class SharedRegion {
 public:
  // Zeroed. ResourceExhausted if there is no such amount of memory.
  static absl::StatusOr<SharedRegion> Create(size_t size);
  // Maps a region that a peer made; takes `fd` over. PermissionDenied if it
  // belongs to another user; InvalidArgument if it is no region.
  static absl::StatusOr<SharedRegion> Open(int fd);
  // The same for one that its maker, which lives, refers to. Unavailable if
  // this process cannot reach it. That it is not another machine's, which by
  // accident is called the same, its content must tell.
  static absl::StatusOr<SharedRegion> Open(const RegionReference& reference);

  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  ~SharedRegion();

  absl::Span<std::byte> memory() const { return memory_; }
  // Stays the region's.
  int fd() const { return fd_; }
  // To tell a peer, of a region that this process made.
  absl::StatusOr<RegionReference> reference() const;

 private:
  SharedRegion(int fd, absl::Span<std::byte> memory)
      : fd_(fd), memory_(memory) {}

  int fd_ = -1;
  absl::Span<std::byte> memory_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SHARED_MEMORY_SHARED_REGION_H_
