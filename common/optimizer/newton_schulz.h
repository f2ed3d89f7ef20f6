// The orthogonal factor of a matrix, by products of matrices alone.
//
// Let G = U S Vᵀ, with singular values S. Its orthogonal factor U Vᵀ is what is
// left of G when all singular values become 1. The iteration comes near to it
// (Higham, Functions of Matrices, 2008, chapter 8; with the coefficients of
// Jordan et al., Muon, 2024, as keras.optimizers.Muon has them):
//
//   X = G / (‖G‖ + 1e-7)                    ‖G‖: the root of the sum of squares
//   repeat:  A = X Xᵀ,  X = a X + (b A + c A²) X
//
// A step changes each singular value s of X into a s + b s³ + c s⁵ and leaves U
// and V alone. Those of the first X are at most 1. With the default
// coefficients small values more than triple at each step, and values near 1
// stay between 0.68 and 1.21: the result is near enough to U Vᵀ for an
// optimizer, after few steps.
//
// X Xᵀ has as many rows as X. Where X has more rows than columns, its transpose
// takes its place, which has the same singular values.
#ifndef PACELINE_COMMON_OPTIMIZER_NEWTON_SCHULZ_H_
#define PACELINE_COMMON_OPTIMIZER_NEWTON_SCHULZ_H_

#include <cstdint>

#include "absl/types/span.h"

namespace paceline {

// What is added to a norm before a matrix is divided by it.
inline constexpr double kOrthogonalizationEpsilon = 1e-7;

struct NewtonSchulz {
  double a = 3.4445;
  double b = -4.775;
  double c = 2.0315;
  int64_t steps = 5;
};

// Multiplications of an iteration.
double MultiplicationsOf(const NewtonSchulz& iteration, int64_t rows,
                         int64_t columns);

// Replaces a matrix in C order by the last X. Runs in the calling thread, and
// allocates about twice the matrix and twice the square of its smaller size.
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<float> matrix);
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<double> matrix);

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_NEWTON_SCHULZ_H_
