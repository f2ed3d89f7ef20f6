#include "common/operations/matrix_product.h"

#include <utility>

#include "glog/logging.h"

namespace paceline::op {
namespace {

// The shape after the optional transposition.
Shape Turned(Shape shape, bool is_transposed) {
  CHECK_GE(shape.size(), 2u);
  if (is_transposed) std::swap(shape.back(), shape[shape.size() - 2]);
  return shape;
}

}  // namespace

std::vector<TensorType> MatrixProductOperation::OutputTypes(
    absl::Span<const TensorType> inputs) const {
  CHECK(inputs[0].type == inputs[1].type && IsReal(inputs[0].type));
  CHECK_EQ(inputs.size(), options_.has_bias ? 3u : 2u);
  const Shape left = Turned(inputs[0].shape, options_.left_is_transposed);
  Shape right = Turned(inputs[1].shape, options_.right_is_transposed);
  const int64_t columns = right.back();
  CHECK_EQ(left.back(), right[right.size() - 2])
      << ShapeToString(left) << " by " << ShapeToString(right);
  Shape output = left;
  output.back() = columns;
  right[right.size() - 2] = left[left.size() - 2];
  CHECK(right == output) << ShapeToString(left) << " by "
                         << ShapeToString(right);
  if (options_.has_bias) {
    CHECK(inputs[2] == TensorType({inputs[0].type, {columns}}))
        << ToString(inputs[2]) << " for " << columns << " columns";
  }
  std::vector<TensorType> outputs = {{inputs[0].type, output}};
  if (options_.has_row_sum) {
    output[output.size() - 2] = 1;
    outputs.push_back({inputs[0].type, output});
  }
  return outputs;
}

// For Y = L · R, with L and R after their transpositions: dL = dY · Rᵀ and dR =
// Lᵀ · dY, transposed again if the input is.
Gradients MatrixProductOperation::AddGradient(const CallGradient& call) const {
  CHECK(!options_.has_bias && !options_.has_row_sum);
  const bool left_is_transposed = options_.left_is_transposed;
  const bool right_is_transposed = options_.right_is_transposed;
  const Tensor& left = call.inputs[0];
  const Tensor& right = call.inputs[1];
  const Tensor& dy = *call.output_gradients[0];
  Gradients gradients(2);
  if (call.wanted[1]) {
    gradients[1] = right_is_transposed
                       ? MatrixProduct(dy, left, true, left_is_transposed)
                       : MatrixProduct(left, dy, !left_is_transposed, false);
  }
  if (call.wanted[0]) {
    gradients[0] = left_is_transposed
                       ? MatrixProduct(right, dy, right_is_transposed, true)
                       : MatrixProduct(dy, right, false, !right_is_transposed);
  }
  return gradients;
}

Tensor MatrixProduct(const Tensor& left, const Tensor& right,
                     bool left_is_transposed, bool right_is_transposed) {
  return AddCall(
      MatrixProductOperation({.left_is_transposed = left_is_transposed,
                              .right_is_transposed = right_is_transposed}),
      {left, right});
}

}  // namespace paceline::op
