// Moving averages of variables, as Keras' use_ema computes them: behind the
// formula, and before constraints, each update computes
//
//   average = m · average + (1 - m) · w
//
// where m is ema_momentum, but 0 in the first update, which thus copies w.
// After every ema_overwrite_frequency updates, w = average follows. Neither is
// part of formulas: an average is a slot of its own, and a pass of its own over
// the updated elements computes it.
#ifndef PACELINE_COMMON_OPTIMIZER_MOVING_AVERAGE_H_
#define PACELINE_COMMON_OPTIMIZER_MOVING_AVERAGE_H_

#include "absl/types/span.h"
#include "common/base/host_device.h"

namespace paceline {

// The name of the slot.
inline constexpr char kAverageSlot[] = "average";

// How one update averages.
struct Averaging {
  // m above.
  double momentum = 0;
  // Whether the variable takes the average.
  bool overwrites = false;
};

// Of one element. T is float or double. No branch, so that loops are
// vectorised.
template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline void UpdateAverage(
    const Averaging& averaging, T& w, T& average) {
  const T momentum = static_cast<T>(averaging.momentum);
  average = momentum * average + (1 - momentum) * w;
  w = averaging.overwrites ? average : w;
}

// Of all elements of a range, on the CPU. Both spans must have the same size.
void UpdateAverages(const Averaging& averaging, absl::Span<float> values,
                    absl::Span<float> averages);
void UpdateAverages(const Averaging& averaging, absl::Span<double> values,
                    absl::Span<double> averages);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_MOVING_AVERAGE_H_
