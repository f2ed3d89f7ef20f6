// How far a shard is with an order to swap variables and averages.
#ifndef PACELINE_PS_SERVER_CHUNK_SWAPS_H_
#define PACELINE_PS_SERVER_CHUNK_SWAPS_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace paceline {

// A chunk that swaps twice is as before, so a repeat of an order must leave out
// those that have swapped when another one failed. Not thread-safe.
class ChunkSwaps {
 public:
  // Calls `swap` for one of `count` chunks after the other, and returns its
  // first error. A repeat of the last order begins with the chunk that failed,
  // and does nothing if none did.
  absl::Status CarryOut(uint64_t order, size_t count,
                        absl::FunctionRef<absl::Status(size_t chunk)> swap);

 private:
  // The last order, and the chunks that have swapped.
  uint64_t order_ = 0;
  size_t swapped_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_CHUNK_SWAPS_H_
