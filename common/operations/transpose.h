// Permutes the axes of a tensor.
#ifndef PACELINE_COMMON_OPERATIONS_TRANSPOSE_H_
#define PACELINE_COMMON_OPERATIONS_TRANSPOSE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/operations/function.h"
#include "common/operations/operation.h"

namespace paceline::op {

// Axis i of the output is axis permutation[i] of the input.
class TransposeOperation final : public Operation {
 public:
  static constexpr char kName[] = "Transpose";

  explicit TransposeOperation(std::vector<int> permutation)
      : permutation_(std::move(permutation)) {}

  absl::string_view name() const override { return kName; }
  std::vector<TensorType> OutputTypes(
      absl::Span<const TensorType> inputs) const override;
  Gradients AddGradient(const CallGradient& call) const override;

  const std::vector<int>& permutation() const { return permutation_; }

 private:
  std::vector<int> permutation_;
};

Tensor Transpose(const Tensor& x, std::vector<int> permutation);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_TRANSPOSE_H_
