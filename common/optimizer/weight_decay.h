// Decoupled weight decay (Loshchilov and Hutter, 2019), as in Keras. An update
// by any optimizer begins with
//
//   w -= w · decay · lr
//
// where `decay` is Optimizer::WeightDecayOf. It is not part of formulas: the
// loops and kernels that apply them decay a weight as they load it.
#ifndef PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_
#define PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_

#include "common/base/host_device.h"

namespace paceline {

// `rate` is decay · lr. If it is 0, the weight keeps all bits, also those of
// -0, infinity and NaN. No branch, so that loops are vectorised.
template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline T Decayed(T w, T rate) {
  const T decayed = w - w * rate;
  return rate == 0 ? w : decayed;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_WEIGHT_DECAY_H_
