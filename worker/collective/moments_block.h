// Moments as collectives reduce them.
#ifndef PACELINE_WORKER_COLLECTIVE_MOMENTS_BLOCK_H_
#define PACELINE_WORKER_COLLECTIVE_MOMENTS_BLOCK_H_

#include <cstdint>

#include "worker/collective/transport.h"

namespace paceline {

// The moments of a few columns of a rank's rows (merge_moments.h), which ranks
// merge where they add numbers. Each block has the number of rows, for in a
// ring the blocks of a message hold those of different ranks on their way.
struct MomentsBlock {
  static constexpr int64_t kColumns = 3;

  double rows = 0;
  double means[kColumns] = {};
  double deviations[kColumns] = {};
  double unused = 0;
};
// So that pieces of a message are whole blocks.
static_assert(Transport::kPieceAlignment % sizeof(MomentsBlock) == 0);

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_MOMENTS_BLOCK_H_
