// Moments of columns as an element type of collectives.
#ifndef PACELINE_WORKER_COLLECTIVE_MOMENTS_BLOCK_H_
#define PACELINE_WORKER_COLLECTIVE_MOMENTS_BLOCK_H_

#include <cstdint>

#include "worker/collective/transport.h"

namespace paceline {

// The moments of a few columns over a rank's rows (merge_moments.h). Where
// collectives add numbers, they merge moments. Each block has its own row
// count, since in a ring the blocks of one message are partial results over
// different ranks.
struct MomentsBlock {
  static constexpr int64_t kColumns = 3;

  double rows = 0;
  double means[kColumns] = {};
  double deviations[kColumns] = {};
  double unused = 0;
};
// So that each piece of a message consists of whole blocks.
static_assert(Transport::kPieceAlignment % sizeof(MomentsBlock) == 0);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_MOMENTS_BLOCK_H_
