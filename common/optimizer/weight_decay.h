// Decoupled weight decay (Loshchilov and Hutter, 2019), as Keras has it.
#ifndef PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_
#define PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_

#include "common/base/host_device.h"
#include "common/optimizer/formula.h"

namespace paceline {

// The scalar of a step that is the learning rate, where weights decay.
inline constexpr int kLearningRateScalar = 3;

// w -= w · decay · lr.
template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline void DecayWeight(
    const StepScalars& step, double decay, T& w) {
  w -= w * static_cast<T>(decay) * static_cast<T>(step[kLearningRateScalar]);
}

// Decays the weight, then applies a formula of elements.
template <typename Formula>
struct Decayed {
  static constexpr int kSlotCount = Formula::kSlotCount;

  Formula formula;
  double decay = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void operator()(
      const StepScalars& step, T g, T& w, T* slots) const {
    DecayWeight(step, decay, w);
    formula(step, g, w, slots);
  }
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_
