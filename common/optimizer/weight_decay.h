// Decoupled weight decay (Loshchilov and Hutter, 2019), as in Keras.
#ifndef PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_
#define PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_

#include "common/base/host_device.h"
#include "common/optimizer/formula.h"

namespace paceline {

// The index of the step scalar with the learning rate, for formulas with weight
// decay.
inline constexpr int kLearningRateScalar = 3;

// w -= w · decay · lr.
template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline void DecayWeight(
    const StepScalars& step, double decay, T& w) {
  w -= w * static_cast<T>(decay) * static_cast<T>(step[kLearningRateScalar]);
}

// Decays the weight, then applies an elementwise formula.
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
