#include "common/optimizer/gradient_accumulation.h"

#include <cstddef>
#include <cstdint>

#include "common/base/simd.h"

namespace paceline {
namespace {

// `accumulation` is a copy, so that the compiler knows that no store changes
// it.
template <typename T>
[[gnu::always_inline]] inline void AccumulateEach(Accumulation accumulation,
                                                  int64_t count, T* gradients,
                                                  T* accumulators) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    AccumulateGradient(accumulation, gradients[i], accumulators[i]);
  }
}

template <typename T>
double SquaredNormOfMeanTyped(double steps, absl::Span<const T> gradients,
                              absl::Span<const T> accumulators) {
  const T* const g = gradients.data();
  const T* const a = accumulators.data();
  const size_t count = gradients.size();
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; ++i) {
    const auto mean =
        static_cast<double>((g[i] + a[i]) / static_cast<T>(steps));
    sum += mean * mean;
  }
  return sum;
}

}  // namespace

PACELINE_MULTIVERSION
void AccumulateGradients(const Accumulation& accumulation,
                         absl::Span<float> gradients,
                         absl::Span<float> accumulators) {
  AccumulateEach(accumulation, static_cast<int64_t>(gradients.size()),
                 gradients.data(), accumulators.data());
}

// Not vectorised by instruction set, as the loops of formulas
// (apply_formula.h).
void AccumulateGradients(const Accumulation& accumulation,
                         absl::Span<double> gradients,
                         absl::Span<double> accumulators) {
  AccumulateEach(accumulation, static_cast<int64_t>(gradients.size()),
                 gradients.data(), accumulators.data());
}

double SquaredNormOfMean(double steps, absl::Span<const float> gradients,
                         absl::Span<const float> accumulators) {
  return SquaredNormOfMeanTyped(steps, gradients, accumulators);
}
double SquaredNormOfMean(double steps, absl::Span<const double> gradients,
                         absl::Span<const double> accumulators) {
  return SquaredNormOfMeanTyped(steps, gradients, accumulators);
}

}  // namespace paceline
