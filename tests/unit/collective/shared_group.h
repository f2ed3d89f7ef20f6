// A group in shared memory.
#ifndef PACELINE_TESTS_UNIT_COLLECTIVE_SHARED_GROUP_H_
#define PACELINE_TESTS_UNIT_COLLECTIVE_SHARED_GROUP_H_

#include <glog/logging.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "worker/collective/shared_memory_transport.h"

namespace paceline {

// The regions of all ranks.
class SharedGroup {
 public:
  SharedGroup(int world_size, size_t payload_size) {
    for (int rank = 0; rank < world_size; ++rank) {
      auto region =
          SharedMemoryTransport::MakeRegion(rank, world_size, payload_size);
      CHECK(region.ok()) << region.status();
      regions_.push_back(*std::move(region));
    }
  }

  // A rank's region, as writable as for any peer.
  absl::Span<std::byte> memory(int rank) const {
    return regions_[rank]->memory();
  }

  // The transport of a rank. It maps all regions again, like a separate
  // process. Its peers are named "replica 0" and so on.
  std::unique_ptr<SharedMemoryTransport> Join(int rank,
                                              absl::Duration timeout) const {
    SharedMemoryOptions options;
    options.rank = rank;
    options.timeout = timeout;
    std::vector<SharedMemoryTransport::RegionPtr> regions;
    for (const auto& made : regions_) {
      options.names.push_back(absl::StrCat("replica ", options.names.size()));
      auto region = SharedRegion::Open(dup(made->fd()));
      CHECK(region.ok()) << region.status();
      regions.push_back(
          std::make_shared<const SharedRegion>(*std::move(region)));
    }
    auto transport =
        SharedMemoryTransport::Create(std::move(options), std::move(regions));
    CHECK(transport.ok()) << transport.status();
    return *std::move(transport);
  }

 private:
  std::vector<SharedMemoryTransport::RegionPtr> regions_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_COLLECTIVE_SHARED_GROUP_H_
