// Which elements Dropout drops: the same on every device, and whatever replica
// an example is on.
#ifndef PACELINE_COMMON_MODEL_DROPOUT_MASK_H_
#define PACELINE_COMMON_MODEL_DROPOUT_MASK_H_

#include <cstdint>

#include "common/model/layers/dropout.h"
#include "common/model/philox.h"

namespace paceline {

// The mask of one layer in one epoch. Four elements share a call of Philox, so
// devices go through an example in blocks of four.
class DropoutMask {
 public:
  // `job_seed` counts unless the layer has a seed of its own.
  DropoutMask(const Dropout& layer, uint64_t job_seed, int64_t epoch);

  // Bit i is set if element 4 * block + i of the example is kept. `example` is
  // its position in the epoch's order.
  unsigned KeptOfBlock(int64_t example, int64_t block) const;

  bool IsKept(int64_t example, int64_t element) const {
    return (KeptOfBlock(example, element / 4) >> (element % 4) & 1) != 0;
  }

  // The factor of kept elements.
  double scale() const { return scale_; }

 private:
  uint64_t key_;
  // A random word below it drops its element.
  uint64_t threshold_;
  double scale_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_DROPOUT_MASK_H_
