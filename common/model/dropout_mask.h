// The mask of dropout layers. It is the same on every device, and no matter
// which replica processes an example.
#ifndef PACELINE_COMMON_MODEL_DROPOUT_MASK_H_
#define PACELINE_COMMON_MODEL_DROPOUT_MASK_H_

#include <array>
#include <cstdint>

#include "common/model/philox.h"

namespace paceline {

// The mask of a layer in an epoch. Four elements share a call of Philox, so
// devices process an example in blocks of four.
class DropoutMask {
 public:
  // Elements per block.
  static constexpr int64_t kBlock = 4;

  // `key` must be different for each layer. Call InEpoch to get the mask of an
  // epoch.
  DropoutMask(double rate, uint64_t key);

  // constexpr, like KeptOfBlock, so that GPUs can run it.
  constexpr DropoutMask InEpoch(int64_t epoch) const {
    return {MixKey(key_, static_cast<uint64_t>(epoch)), threshold_};
  }

  // Bit i is set if element kBlock * block + i of the example is kept.
  // `example`: position in the epoch's order.
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
  // An element is dropped if its random number is below this.
  uint64_t threshold_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_DROPOUT_MASK_H_
