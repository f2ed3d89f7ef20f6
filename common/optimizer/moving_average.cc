#include "common/optimizer/moving_average.h"

#include <cstdint>

#include "common/base/simd.h"

namespace paceline {
namespace {

// `averaging` is a copy, so that the compiler knows that no store changes it.
template <typename T>
[[gnu::always_inline]] inline void AverageEach(Averaging averaging,
                                               int64_t count, T* values,
                                               T* averages) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    UpdateAverage(averaging, values[i], averages[i]);
  }
}

}  // namespace

PACELINE_MULTIVERSION
void UpdateAverages(const Averaging& averaging, absl::Span<float> values,
                    absl::Span<float> averages) {
  AverageEach(averaging, static_cast<int64_t>(values.size()), values.data(),
              averages.data());
}

// Not vectorised by instruction set, as the loops of formulas
// (apply_formula.h).
void UpdateAverages(const Averaging& averaging, absl::Span<double> values,
                    absl::Span<double> averages) {
  AverageEach(averaging, static_cast<int64_t>(values.size()), values.data(),
              averages.data());
}

}  // namespace paceline
