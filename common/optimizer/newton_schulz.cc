#include "common/optimizer/newton_schulz.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "common/base/simd.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// --- Products
//
// The blocking scheme of BLAS libraries (Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008). A panel of the right matrix,
// a few columns wide, is copied so that its rows are contiguous and stay in the
// L1 cache. A tile of the result, a few rows of such a panel, stays in
// registers while the loop runs down the panel. Each loaded element is used for
// a whole tile, so the loop is bound by arithmetic, not by memory.

// Rows of a tile. With AVX2 the sums of a tile take 12 of 16 registers.
constexpr int kTileRows = 6;
// Rows of a panel.
constexpr int64_t kPanelRows = 256;

// A row of a tile or of a panel.
template <typename T>
struct TileRow {
  static constexpr int kColumns = 64 / sizeof(T);
  typedef T Type __attribute__((vector_size(64)));
};

// A matrix, in C order or transposed.
template <typename T>
struct Operand {
  const T* data;
  int64_t row_stride;
  int64_t column_stride;
};

// Copies `rows` × `columns` elements from `from`; fills the rest of the panel's
// columns with zeros.
template <typename T>
[[gnu::always_inline]] inline void PackPanel(const Operand<T>& from,
                                             int64_t rows, int64_t columns,
                                             T* panel) {
  constexpr int kColumns = TileRow<T>::kColumns;
  for (int64_t k = 0; k < rows; ++k) {
    const T* const row = from.data + k * from.row_stride;
    T* const packed = panel + k * kColumns;
    for (int64_t j = 0; j < columns; ++j) {
      packed[j] = row[j * from.column_stride];
    }
    std::fill(packed + columns, packed + kColumns, T{0});
  }
}

// Computes a tile of `columns` columns: out += scale · left · panel.
template <int kRows, typename T>
[[gnu::always_inline]] inline void AddTile(T scale, const T* left,
                                           int64_t left_stride, const T* panel,
                                           int64_t panel_rows, int64_t columns,
                                           T* out, int64_t out_stride) {
  using Row = typename TileRow<T>::Type;
  Row sums[kRows] = {};
  for (int64_t k = 0; k < panel_rows; ++k) {
    Row right;
    std::memcpy(&right, panel + k * TileRow<T>::kColumns, sizeof(right));
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r)
      sums[r] += left[r * left_stride + k] * right;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int64_t j = 0; j < columns; ++j) {
      out[r * out_stride + j] += scale * sums[r][j];
    }
  }
}

// out (rows, columns) += scale · left (rows, inner) · right (inner, columns).
// `left` and `out` must be in C order.
template <typename T>
[[gnu::always_inline]] inline void AddProduct(T scale, const T* left,
                                              const Operand<T>& right,
                                              int64_t rows, int64_t inner,
                                              int64_t columns, T* out) {
  constexpr int kColumns = TileRow<T>::kColumns;
  std::vector<T> panel(kPanelRows * kColumns);
  for (int64_t k = 0; k < inner; k += kPanelRows) {
    const int64_t depth = std::min(kPanelRows, inner - k);
    for (int64_t j = 0; j < columns; j += kColumns) {
      const int64_t width = std::min<int64_t>(kColumns, columns - j);
      const T* const first =
          right.data + k * right.row_stride + j * right.column_stride;
      PackPanel<T>({first, right.row_stride, right.column_stride}, depth, width,
                   panel.data());
      int64_t i = 0;
      for (; i + kTileRows <= rows; i += kTileRows) {
        AddTile<kTileRows>(scale, left + i * inner + k, inner, panel.data(),
                           depth, width, out + i * columns + j, columns);
      }
      for (; i < rows; ++i) {
        AddTile<1>(scale, left + i * inner + k, inner, panel.data(), depth,
                   width, out + i * columns + j, columns);
      }
    }
  }
}

// --- The iteration

// out = factor · in.
template <typename T>
[[gnu::always_inline]] inline void Scale(T factor, const std::vector<T>& in,
                                         std::vector<T>& out) {
  const size_t count = out.size();
  const T* const from = in.data();
  T* const to = out.data();
#pragma omp simd
  for (size_t i = 0; i < count; ++i) to[i] = factor * from[i];
}

// transposed (columns, rows) = the transpose of matrix (rows, columns).
template <typename T>
void Transpose(const T* matrix, int64_t rows, int64_t columns, T* transposed) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      transposed[j * rows + i] = matrix[i * columns + j];
    }
  }
}

// The iteration, starting from X (rows, columns).
template <typename T>
[[gnu::always_inline]] inline void Iterate(const NewtonSchulz& iteration,
                                           int64_t rows, int64_t columns,
                                           std::vector<T>& x) {
  std::vector<T> next(x.size());
  std::vector<T> a(rows * rows);
  std::vector<T> polynomial(rows * rows);
  for (int64_t step = 0; step < iteration.steps; ++step) {
    std::fill(a.begin(), a.end(), T{0});
    AddProduct<T>(1, x.data(), {x.data(), 1, columns}, rows, columns, rows,
                  a.data());
    Scale(static_cast<T>(iteration.b), a, polynomial);
    AddProduct<T>(static_cast<T>(iteration.c), a.data(), {a.data(), rows, 1},
                  rows, rows, rows, polynomial.data());
    Scale(static_cast<T>(iteration.a), x, next);
    AddProduct<T>(1, polynomial.data(), {x.data(), columns, 1}, rows, rows,
                  columns, next.data());
    x.swap(next);
  }
}

// Divides the matrix by its norm.
template <typename T>
[[gnu::always_inline]] inline void Normalize(absl::Span<T> matrix) {
  double squares = 0;
  for (const T value : matrix) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const T factor =
      static_cast<T>(1 / (std::sqrt(squares) + kOrthogonalizationEpsilon));
  for (T& value : matrix) value *= factor;
}

template <typename T>
[[gnu::always_inline]] inline void OrthogonalizeTyped(
    const NewtonSchulz& iteration, int64_t rows, int64_t columns,
    absl::Span<T> matrix) {
  CHECK_EQ(rows * columns, static_cast<int64_t>(matrix.size()));
  Normalize(matrix);
  std::vector<T> x(matrix.size());
  if (rows > columns) {
    Transpose(matrix.data(), rows, columns, x.data());
    Iterate(iteration, columns, rows, x);
    Transpose(x.data(), columns, rows, matrix.data());
  } else {
    std::copy(matrix.begin(), matrix.end(), x.begin());
    Iterate(iteration, rows, columns, x);
    std::copy(x.begin(), x.end(), matrix.begin());
  }
}

}  // namespace

double MultiplicationsOf(const NewtonSchulz& iteration, int64_t rows,
                         int64_t columns) {
  const auto shorter = static_cast<double>(std::min(rows, columns));
  const auto longer = static_cast<double>(std::max(rows, columns));
  return static_cast<double>(iteration.steps) * shorter * shorter *
         (2 * longer + shorter);
}

PACELINE_MULTIVERSION
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<float> matrix) {
  OrthogonalizeTyped(iteration, rows, columns, matrix);
}

// Without PACELINE_MULTIVERSION: float64 is the reference, so it must give the
// same bits on machines with other vector instructions.
void Orthogonalize(const NewtonSchulz& iteration, int64_t rows, int64_t columns,
                   absl::Span<double> matrix) {
  OrthogonalizeTyped(iteration, rows, columns, matrix);
}

}  // namespace paceline
