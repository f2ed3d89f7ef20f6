#include "ps_server/chunk_swaps.h"

#include "common/base/status_macros.h"

namespace paceline {

absl::Status ChunkSwaps::CarryOut(
    uint64_t order, size_t count,
    absl::FunctionRef<absl::Status(size_t chunk)> swap) {
  if (order != order_) {
    order_ = order;
    swapped_ = 0;
  }
  for (; swapped_ < count; ++swapped_) RETURN_IF_ERROR(swap(swapped_));
  return absl::OkStatus();
}

}  // namespace paceline
