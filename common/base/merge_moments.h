// Moments of rows that are in several parts.
#ifndef PACELINE_COMMON_BASE_MERGE_MOMENTS_H_
#define PACELINE_COMMON_BASE_MERGE_MOMENTS_H_

#include <cstdint>

namespace paceline {

// Of some rows: how many they are, and of each column the mean and Σ (x −
// mean)². Of no rows the latter is 0, and the mean is any number.
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

// Makes of the moments of some rows those of these and some more, by the
// formula of Chan, Golub and LeVeque ("Updating formulae and a pairwise
// algorithm for computing sample variances", 1979). It only adds to the
// deviations, so a variance keeps its digits however large the mean is beside
// it. Inlined, so that it is vector code of the caller's instruction set.
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
