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
  // A transposed side has its last two axes the other way round.
  bool left_is_transposed = false;
  bool right_is_transposed = false;
  // A third input, of shape (columns), is added to each row of the product.
  // Made by a rewrite (rewrites/fuse_bias.h) alone.
  bool has_bias = false;
  // There is a second output, of shape (..., 1, columns): the sum of the rows
  // of the right side, as it counts in the product. Made by a rewrite
  // (rewrites/fuse_row_sum.h) alone.
  bool has_row_sum = false;
};

// (..., rows, inner) by (..., inner, columns) to (..., rows, columns), with the
// same leading axes on both sides, of which each index is a product of its own.
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
