// Which elements Dropout drops: the same on every device, and whatever replica
// an example is on.
#ifndef PACELINE_COMMON_MODEL_DROPOUT_MASK_H_
#define PACELINE_COMMON_MODEL_DROPOUT_MASK_H_

#include <array>
#include <cstdint>

#include "common/model/layers/dropout.h"
#include "common/model/philox.h"

namespace paceline {

// Key of the layer: `job_seed` counts unless it has a seed of its own.
uint64_t DropoutKey(const Dropout& layer, uint64_t job_seed);

// The mask of one layer in one epoch. Four elements share a call of Philox, so
// devices go through an example in blocks of four.
class DropoutMask {
 public:
  // Elements of a block.
  static constexpr int64_t kBlock = 4;

  // By the layer's rate and a key that no other layer has. To be asked for the
  // mask of an epoch.
  DropoutMask(double rate, uint64_t key);

  // constexpr, as KeptOfBlock: GPUs have them too.
  constexpr DropoutMask InEpoch(int64_t epoch) const {
    return {MixKey(key_, static_cast<uint64_t>(epoch)), threshold_};
  }

  // Bit i is set if element kBlock * block + i of the example is kept.
  // `example` is its position in the epoch's order.
  constexpr unsigned KeptOfBlock(int64_t example, int64_t block) const {
    const std::array<uint32_t, 4> words = Philox(
        key_, static_cast<uint64_t>(block), static_cast<uint64_t>(example));
    unsigned kept = 0;
    for (unsigned i = 0; i < words.size(); ++i) {
      kept |= (words[i] >= threshold_ ? 1u : 0u) << i;
    }
    return kept;
  }

  bool IsKept(int64_t example, int64_t element) const {
    return (KeptOfBlock(example, element / kBlock) >> (element % kBlock) & 1) !=
           0;
  }

 private:
  constexpr DropoutMask(uint64_t key, uint64_t threshold)
      : key_(key), threshold_(threshold) {}

  uint64_t key_;
  // A random word below it drops its element.
  uint64_t threshold_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_DROPOUT_MASK_H_
