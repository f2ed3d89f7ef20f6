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
  DropoutMask(const Dropout& layer, uint64_t job_seed, int64_t epoch)
      : DropoutMask(DropoutMask(layer, job_seed).InEpoch(epoch)) {}
  // To be asked for that of an epoch.
  DropoutMask(const Dropout& layer, uint64_t job_seed);
  // The same by the layer's rate and a key that no other layer has.
  DropoutMask(double rate, uint64_t key);

  // constexpr, as KeptOfBlock: GPUs have them too.
  constexpr DropoutMask InEpoch(int64_t epoch) const {
    return {MixKey(key_, static_cast<uint64_t>(epoch)), threshold_, scale_};
  }

  // Bit i is set if element 4 * block + i of the example is kept. `example` is
  // its position in the epoch's order.
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
    return (KeptOfBlock(example, element / 4) >> (element % 4) & 1) != 0;
  }

  // The factor of kept elements.
  constexpr double scale() const { return scale_; }

 private:
  constexpr DropoutMask(uint64_t key, uint64_t threshold, double scale)
      : key_(key), threshold_(threshold), scale_(scale) {}

  uint64_t key_;
  // A random word below it drops its element.
  uint64_t threshold_;
  double scale_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_MODEL_DROPOUT_MASK_H_
