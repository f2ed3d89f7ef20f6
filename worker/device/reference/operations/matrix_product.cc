#include "common/operations/matrix_product.h"

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {

void EvaluateMatrixProduct(const op::Operation& operation,
                           const Evaluation& evaluation) {
  const auto& product =
      static_cast<const op::MatrixProductOperation&>(operation);
  const Shape& left_shape = evaluation.input(0).shape();
  Array& output = evaluation.output();
  const int64_t columns = output.shape().back();
  const int64_t rows = output.shape()[output.shape().size() - 2];
  const int64_t inner = product.left_is_transposed()
                            ? left_shape[left_shape.size() - 2]
                            : left_shape.back();
  const int64_t products = NumElements(
      absl::MakeConstSpan(output.shape()).subspan(0, left_shape.size() - 2));
  // Where element (row, column) of a matrix lies.
  const auto place = [](int64_t row, int64_t column, int64_t row_count,
                        int64_t column_count, bool is_transposed) {
    return is_transposed ? column * row_count + row
                         : row * column_count + column;
  };
  WithRealType(output.data_type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t p = 0; p < products; ++p) {
      // Of an empty batch there is no first element to point to.
      const T* const left =
          evaluation.input(0).values<T>().data() + p * rows * inner;
      const T* const right =
          evaluation.input(1).values<T>().data() + p * inner * columns;
      T* const y = output.values<T>().data() + p * rows * columns;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          for (int64_t i = 0; i < inner; ++i) {
            y[r * columns + c] +=
                left[place(r, i, rows, inner, product.left_is_transposed())] *
                right[place(i, c, inner, columns,
                            product.right_is_transposed())];
          }
        }
      }
    }
  });
}

}  // namespace paceline::reference
