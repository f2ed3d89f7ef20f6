// Products of matrices.
#ifndef PACELINE_COMMON_OPERATIONS_MATRIX_PRODUCT_H_
#define PACELINE_COMMON_OPERATIONS_MATRIX_PRODUCT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

struct MatrixProductOptions {
  // A transposed operand has its last two axes swapped in memory.
  bool left_is_transposed = false;
  bool right_is_transposed = false;
  // A third input, of shape (columns), is added to each row of the product.
  // Only a rewrite (rewrites/fuse_bias.h) creates it.
  bool has_bias = false;
  // A second output, of shape (..., 1, columns), is the sum of the rows of the
  // right operand, after its transposition. Only a rewrite
  // (rewrites/fuse_row_sum.h) creates it.
  bool has_row_sum = false;
};

// (..., rows, inner) times (..., inner, columns) gives (..., rows, columns).
// Leading axes must be equal on both sides; each of their indices is a separate
// product (batched).
class MatrixProductOperation final : public Operation {
 public:
  static constexpr char kName[] = "MatrixProduct";

  explicit MatrixProductOperation(const MatrixProductOptions& options)
      : options_(options) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const MatrixProductOptions& options() const { return options_; }

 private:
  MatrixProductOptions options_;
};

Tensor MatrixProduct(const Tensor& left, const Tensor& right,
                     bool left_is_transposed = false,
                     bool right_is_transposed = false);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_MATRIX_PRODUCT_H_
