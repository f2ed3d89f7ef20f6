#include "common/optimizer/newton_schulz.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/base/simd.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Rows that a loop works on at once. Matrices are filled up with rows of zeros
// to a multiple, which stay zeros.
constexpr int64_t kRows = 4;

// out (rows, rows) = x (rows, columns) · xᵀ.
template <typename T>
[[gnu::always_inline]] inline void MultiplyByTransposed(const T* x,
                                                        int64_t rows,
                                                        int64_t columns,
                                                        T* out) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* const left = x + i * columns;
    for (int64_t k = 0; k <= i; k += kRows) {
      const T* const right = x + k * columns;
      T sum0 = 0;
      T sum1 = 0;
      T sum2 = 0;
      T sum3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
      for (int64_t j = 0; j < columns; ++j) {
        sum0 += left[j] * right[j];
        sum1 += left[j] * right[columns + j];
        sum2 += left[j] * right[2 * columns + j];
        sum3 += left[j] * right[3 * columns + j];
      }
      const T sums[kRows] = {sum0, sum1, sum2, sum3};
      for (int64_t r = 0; r < kRows; ++r) {
        out[i * rows + k + r] = out[(k + r) * rows + i] = sums[r];
      }
    }
  }
}

// out (rows, columns) = a · x (rows, columns) + left (rows, rows) · x.
template <typename T>
[[gnu::always_inline]] inline void AddProduct(T a, const T* x, const T* left,
                                              int64_t rows, int64_t columns,
                                              T* out) {
  for (int64_t i = 0; i < rows; ++i) {
    T* const sums = out + i * columns;
    const T* const own = x + i * columns;
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) sums[j] = a * own[j];
    for (int64_t k = 0; k < rows; k += kRows) {
      const T* const factors = left + i * rows + k;
      const T* const right = x + k * columns;
#pragma omp simd
      for (int64_t j = 0; j < columns; ++j) {
        sums[j] += factors[0] * right[j] + factors[1] * right[columns + j] +
                   factors[2] * right[2 * columns + j] +
                   factors[3] * right[3 * columns + j];
      }
    }
  }
}

// transposed (columns, rows) = matrix (rows, columns) with its axes swapped.
template <typename T>
void Transpose(const T* matrix, int64_t rows, int64_t columns, T* transposed) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      transposed[j * rows + i] = matrix[i * columns + j];
    }
  }
}

// The steps from X (rows, columns) on, whose rows are a multiple of kRows.
// Returns which of `x` and `next` holds the last X.
template <typename T>
[[gnu::always_inline]] inline T* Iterate(const NewtonSchulz& iteration,
                                         int64_t rows, int64_t columns, T* x,
                                         T* next) {
  std::vector<T> a(rows * rows);
  std::vector<T> polynomial(rows * rows);
  const T b = static_cast<T>(iteration.b);
  const T c = static_cast<T>(iteration.c);
  const int64_t count = rows * rows;
  for (int64_t step = 0; step < iteration.steps; ++step) {
    MultiplyByTransposed(x, rows, columns, a.data());
    // A is symmetric.
    MultiplyByTransposed(a.data(), rows, rows, polynomial.data());
    T* const p = polynomial.data();
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) p[i] = b * a[i] + c * p[i];
    AddProduct(static_cast<T>(iteration.a), x, p, rows, columns, next);
    std::swap(x, next);
  }
  return x;
}

template <typename T>
[[gnu::always_inline]] inline void OrthogonalizeTyped(
    const NewtonSchulz& iteration, int64_t rows, int64_t columns,
    absl::Span<T> matrix) {
  CHECK_EQ(rows * columns, static_cast<int64_t>(matrix.size()));
  const bool is_tall = rows > columns;
  const int64_t short_size = std::min(rows, columns);
  const int64_t long_size = std::max(rows, columns);
  const int64_t padded = (short_size + kRows - 1) / kRows * kRows;
  std::vector<T> x(padded * long_size);
  std::vector<T> next(padded * long_size);
  double squares = 0;
  for (const T value : matrix) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const T factor =
      static_cast<T>(1 / (std::sqrt(squares) + kOrthogonalizationEpsilon));
  for (T& value : matrix) value *= factor;
  if (is_tall) {
    Transpose(matrix.data(), rows, columns, x.data());
  } else {
    std::copy(matrix.begin(), matrix.end(), x.begin());
  }
  const T* const last =
      Iterate(iteration, padded, long_size, x.data(), next.data());
  if (is_tall) {
    Transpose(last, columns, rows, matrix.data());
  } else {
    std::copy(last, last + matrix.size(), matrix.begin());
  }
}

}  // namespace

PACELINE_MULTIVERSION
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<float> matrix) {
  OrthogonalizeTyped(iteration, rows, columns, matrix);
}

// What others are compared with: the same bits on all machines.
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<double> matrix) {
  OrthogonalizeTyped(iteration, rows, columns, matrix);
}

}  // namespace paceline
