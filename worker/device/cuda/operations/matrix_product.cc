#include "common/operations/matrix_product.h"

#include <cstddef>
#include <cstdint>

#include "worker/device/cuda/operations/operations.h"

namespace paceline::cuda {
namespace {

const op::MatrixProductOptions& OptionsOf(const op::Operation& operation) {
  return static_cast<const op::MatrixProductOperation&>(operation).options();
}

}  // namespace

bool HasMatrixProduct(const op::Operation& operation,
                      absl::Span<const op::TensorType> inputs) {
  const op::MatrixProductOptions& options = OptionsOf(operation);
  return inputs[0].shape.size() == 2
             ? !options.has_bias || !options.has_row_sum
             : !options.has_bias && !options.has_row_sum;
}

Tensor* AddMatrixProduct(const PlacedCall& call, ProgramBuilder& builder) {
  const op::MatrixProductOptions& options = OptionsOf(call.operation);
  const Tensor* const left = call.inputs[0];
  Tensor* const output = OutputOf(call, builder);
  const size_t rank = output->shape.size();
  const int64_t rows = output->shape[rank - 2];
  const int64_t columns = output->shape[rank - 1];
  builder.AddProduct(
      left, call.inputs[1], output,
      {.count = output->count() / (rows * columns),
       .rows = rows,
       .columns = columns,
       .inner = left->shape[rank - (options.left_is_transposed ? 2 : 1)],
       .left_is_transposed = options.left_is_transposed,
       .right_is_transposed = options.right_is_transposed},
      {.bias = options.has_bias ? call.inputs[2] : nullptr,
       .column_sums = options.has_row_sum ? call.more_outputs[0] : nullptr});
  return output;
}

}  // namespace paceline::cuda
