// Memory that processes of one user on one machine share, without a name.
#ifndef PACELINE_WORKER_COLLECTIVE_SHARED_REGION_H_
#define PACELINE_WORKER_COLLECTIVE_SHARED_REGION_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace paceline {

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

  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  ~SharedRegion();

  absl::Span<std::byte> memory() const { return memory_; }
  // To pass to a peer; stays the region's.
  int fd() const { return fd_; }

 private:
  SharedRegion(int fd, absl::Span<std::byte> memory)
      : fd_(fd), memory_(memory) {}

  int fd_ = -1;
  absl::Span<std::byte> memory_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_SHARED_REGION_H_
