// Products of matrices.
#ifndef PACELINE_COMMON_OPERATIONS_MATRIX_PRODUCT_H_
#define PACELINE_COMMON_OPERATIONS_MATRIX_PRODUCT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// (..., rows, inner) by (..., inner, columns) to (..., rows, columns), with the
// same leading axes on both sides, of which each index is a product of its own.
class MatrixProductOperation final : public Operation {
 public:
  static constexpr char kName[] = "MatrixProduct";

  // A transposed side has its last two axes the other way round.
  MatrixProductOperation(bool left_is_transposed, bool right_is_transposed)
      : left_is_transposed_(left_is_transposed),
        right_is_transposed_(right_is_transposed) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  bool left_is_transposed() const { return left_is_transposed_; }
  bool right_is_transposed() const { return right_is_transposed_; }

 private:
  bool left_is_transposed_;
  bool right_is_transposed_;
};

Tensor MatrixProduct(const Tensor& left, const Tensor& right,
                     bool left_is_transposed = false,
                     bool right_is_transposed = false);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_MATRIX_PRODUCT_H_
