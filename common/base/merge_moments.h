// Merges the moments (mean and variance) of several sets of rows.
#ifndef PACELINE_COMMON_BASE_MERGE_MOMENTS_H_
#define PACELINE_COMMON_BASE_MERGE_MOMENTS_H_

#include <cstdint>

namespace paceline {

// The number of rows, and per column the mean and Σ (x − mean)². Without rows
// the latter is 0, and the mean is arbitrary.
struct ColumnMoments {
  double rows = 0;
  double* means = nullptr;
  double* deviations = nullptr;
};
struct ConstColumnMoments {
  double rows = 0;
  const double* means = nullptr;
  const double* deviations = nullptr;
};

// Merges `from` into `to` by the formula of Chan, Golub and LeVeque ("Updating
// formulae and a pairwise algorithm for computing sample variances", 1979). It
// only adds to Σ (x − mean)², never subtracts, so variances keep their
// precision even if the mean is large. Inlined, to be compiled for the caller's
// instruction set.
[[gnu::always_inline]] inline void MergeMoments(ConstColumnMoments from,
                                                int64_t columns,
                                                ColumnMoments& to) {
  if (from.rows == 0) return;
  const double rows = to.rows + from.rows;
  const double share = from.rows / rows;
  const double weight = to.rows * share;
#pragma omp simd
  for (int64_t c = 0; c < columns; ++c) {
    const double difference = from.means[c] - to.means[c];
    to.means[c] += share * difference;
    to.deviations[c] += from.deviations[c] + weight * difference * difference;
  }
  to.rows = rows;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_MERGE_MOMENTS_H_
