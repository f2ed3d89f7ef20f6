// The orthogonal factor of a matrix, computed by matrix products alone.
//
// Let G = U S Vᵀ be the singular value decomposition. The orthogonal factor U
// Vᵀ is G with all singular values replaced by 1. The Newton-Schulz iteration
// approximates it (Higham, "Functions of Matrices", 2008, chapter 8; with the
// coefficients of Jordan et al., "Muon", 2024, as in keras.optimizers.Muon):
//
//   X = G / (‖G‖ + 1e-7)                    ‖G‖: the root of the sum of squares
//   repeat:  A = X Xᵀ,  X = a X + (b A + c A²) X
//
// A step changes each singular value s of X into a s + b s³ + c s⁵ and keeps U
// and V. The first X has singular values of at most 1. With the default
// coefficients small values more than triple in each step, and values near 1
// stay between 0.68 and 1.21. So after few steps the result is close enough to
// U Vᵀ for an optimizer.
//
// X Xᵀ has as many rows as X. If X has more rows than columns, the iteration
// uses its transpose, which has the same singular values.
#ifndef PACELINE_COMMON_OPTIMIZER_NEWTON_SCHULZ_H_
#define PACELINE_COMMON_OPTIMIZER_NEWTON_SCHULZ_H_

#include <cstdint>

#include "absl/types/span.h"

namespace paceline {

// Added to the norm before a matrix is divided by it.
inline constexpr double kOrthogonalizationEpsilon = 1e-7;

struct NewtonSchulz {
  double a = 3.4445;
  double b = -4.775;
  double c = 2.0315;
  int64_t steps = 5;
};

// Number of multiplications in an iteration.
double MultiplicationsOf(const NewtonSchulz& iteration, int64_t rows,
                         int64_t columns);

// Replaces a matrix in C order by the last X. Runs on the calling thread.
// Allocates about twice the matrix plus twice the square of its smaller size.
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<float> matrix);
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<double> matrix);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_NEWTON_SCHULZ_H_
