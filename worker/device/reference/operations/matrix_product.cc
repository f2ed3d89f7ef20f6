#include "common/operations/matrix_product.h"

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

struct Sizes {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t inner = 0;
};

// A matrix in memory, or its transpose.
template <typename T>
struct Side {
  const T* values;
  bool is_transposed;
  // Rows and columns after the transposition.
  int64_t rows;
  int64_t columns;

  T At(int64_t row, int64_t column) const {
    return values[is_transposed ? column * rows + row : row * columns + column];
  }
};

template <typename T>
void Multiply(const Sizes& sizes, const Side<T>& left, const Side<T>& right,
              T* product) {
  for (int64_t r = 0; r < sizes.rows; ++r) {
    for (int64_t c = 0; c < sizes.columns; ++c) {
      T& y = product[r * sizes.columns + c];
      for (int64_t i = 0; i < sizes.inner; ++i) {
        y += left.At(r, i) * right.At(i, c);
      }
    }
  }
}

template <typename T>
void AddBias(const Sizes& sizes, const T* bias, T* product) {
  for (int64_t i = 0; i < sizes.rows * sizes.columns; ++i) {
    product[i] += bias[i % sizes.columns];
  }
}

// In double, like Reduce.
template <typename T>
void SumUpRows(const Side<T>& matrix, T* sums) {
  for (int64_t c = 0; c < matrix.columns; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < matrix.rows; ++r) sum += matrix.At(r, c);
    sums[c] = static_cast<T>(sum);
  }
}

}  // namespace

void EvaluateMatrixProduct(const op::Operation& operation,
                           const Evaluation& evaluation) {
  const op::MatrixProductOptions& options =
      static_cast<const op::MatrixProductOperation&>(operation).options();
  const Shape& left_shape = evaluation.input(0).shape();
  const Array& output = evaluation.output();
  const size_t axes = left_shape.size();
  const Sizes sizes = {
      .rows = output.shape()[axes - 2],
      .columns = output.shape()[axes - 1],
      .inner = left_shape[options.left_is_transposed ? axes - 2 : axes - 1]};
  const int64_t rows = sizes.rows;
  const int64_t columns = sizes.columns;
  const int64_t inner = sizes.inner;
  const int64_t products =
      NumElements(absl::MakeConstSpan(left_shape).subspan(0, axes - 2));
  WithRealType(output.data_type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t p = 0; p < products; ++p) {
      // An empty batch has no first element to point to.
      const auto from = [&](int input, int64_t size) {
        return evaluation.input(input).values<T>().data() + p * size;
      };
      const auto to = [&](int output, int64_t size) {
        return evaluation.outputs[output].values<T>().data() + p * size;
      };
      const Side<T> left = {from(0, rows * inner), options.left_is_transposed,
                            rows, inner};
      const Side<T> right = {from(1, inner * columns),
                             options.right_is_transposed, inner, columns};
      T* const product = to(0, rows * columns);
      Multiply(sizes, left, right, product);
      if (options.has_bias) AddBias(sizes, from(2, 0), product);
      if (options.has_row_sum) SumUpRows(right, to(1, columns));
    }
  });
}

}  // namespace paceline::reference
