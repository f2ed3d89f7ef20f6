// Accumulation of gradients, as by Keras' gradient_accumulation_steps: of each
// n calls of an optimizer the last one updates the variables, by the mean of
// the n gradients. A slot of its own holds the sum of those before, so each
// call first computes
//
//   g = (g + accumulator) / n,  accumulator = 0    in the n-th call
//   accumulator = g + accumulator                  in the others
//
// Clipping, weight decay and the formula follow in the n-th call alone, moving
// averages and constraints in each call.
#ifndef PACELINE_COMMON_OPTIMIZER_GRADIENT_ACCUMULATION_H_
#define PACELINE_COMMON_OPTIMIZER_GRADIENT_ACCUMULATION_H_

#include "absl/types/span.h"
#include "common/base/host_device.h"

namespace paceline {

// The name of the slot, as in Keras.
inline constexpr char kAccumulatorSlot[] = "gradient_accumulator";

// How one call accumulates.
struct Accumulation {
  // n above.
  double steps = 1;
  // Whether this is the n-th call.
  bool updates = true;
};

// Of one element. T is float or double. g is undefined afterwards unless the
// call updates. No branch, so that loops are vectorised.
template <typename T>
[[gnu::always_inline]] PACELINE_HOST_DEVICE inline void AccumulateGradient(
    const Accumulation& accumulation, T& g, T& accumulator) {
  const T sum = g + accumulator;
  g = sum / static_cast<T>(accumulation.steps);
  accumulator = accumulation.updates ? T{0} : sum;
}

// Of all elements of a range, on the CPU. Both spans must have the same size.
void AccumulateGradients(const Accumulation& accumulation,
                         absl::Span<float> gradients,
                         absl::Span<float> accumulators);
void AccumulateGradients(const Accumulation& accumulation,
                         absl::Span<double> gradients,
                         absl::Span<double> accumulators);

// Σ g² of the mean that the n-th call makes of gradients, accumulated in
// float64. Both spans must have the same size.
double SquaredNormOfMean(double steps, absl::Span<const float> gradients,
                         absl::Span<const float> accumulators);
double SquaredNormOfMean(double steps, absl::Span<const double> gradients,
                         absl::Span<const double> accumulators);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_GRADIENT_ACCUMULATION_H_
