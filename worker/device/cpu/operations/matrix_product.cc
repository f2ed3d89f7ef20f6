#include "common/operations/matrix_product.h"

#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "worker/device/cpu/onednn.h"
#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {
namespace {

using dnnl::inner_product_backward_weights;
using dnnl::inner_product_forward;
using Format = dnnl::memory::format_tag;

const op::MatrixProductOptions& OptionsOf(const PlacedCall& call) {
  return static_cast<const op::MatrixProductOperation&>(call.operation)
      .options();
}

dnnl::memory::desc RowsOf(const Tensor* matrix) {
  return Layout(matrix->shape, Format::nc, matrix->type);
}

// The layout of a bias or of row sums; empty if there is none.
dnnl::memory::desc VectorLayout(bool is_there, const Tensor* product) {
  return is_there ? Layout({product->shape[1]}, Format::x)
                  : dnnl::memory::desc();
}

// The product if the left side is not transposed: oneDNN's inner product over
// its rows.
Tensor* AddProductOfRows(const PlacedCall& call, ProgramBuilder& builder) {
  const op::MatrixProductOptions& options = OptionsOf(call);
  Tensor* const left = builder.Computed(call.inputs[0]);
  Tensor* const right = builder.Computed(call.inputs[1]);
  Tensor* const product = OutputOf(call, builder);
  const dnnl::memory::desc source = RowsOf(left);
  // A kernel stays in Keras' layout (n, units), which oneDNN calls "io":
  // oneDNN's matrix products are as fast on it as on their preferred layouts.
  const dnnl::memory::desc weights = Layout(
      {product->shape[1], left->shape[1]},
      options.right_is_transposed ? Format::oi : Format::io, right->type);
  const dnnl::memory::desc bias = VectorLayout(options.has_bias, product);
  const dnnl::memory::desc result = RowsOf(product);
  const inner_product_forward::primitive_desc description(
      inner_product_forward::desc(builder.forward_kind(), source, weights, bias,
                                  result),
      builder.PrimitiveAttributes(), builder.engine());
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, left, source},
      {DNNL_ARG_WEIGHTS, right, weights},
      {DNNL_ARG_DST, product, result}};
  if (options.has_bias) {
    arguments.push_back({DNNL_ARG_BIAS, call.inputs[2], bias});
  }
  builder.AddPrimitive(inner_product_forward(description),
                       description.scratchpad_desc(), std::move(arguments));
  return product;
}

// The product if the left side is transposed: the weight gradient of an inner
// product of the left side, where the right side is the output's gradient.
Tensor* AddKernelGradient(const PlacedCall& call, ProgramBuilder& builder) {
  const op::MatrixProductOptions& options = OptionsOf(call);
  Tensor* const input = builder.Computed(call.inputs[0]);
  Tensor* const gradient = builder.Computed(call.inputs[1]);
  Tensor* const product = OutputOf(call, builder);
  const auto kernel = [&](DataType type) {
    return Layout({product->shape[1], product->shape[0]}, Format::io, type);
  };
  const dnnl::memory::desc row_sum = VectorLayout(options.has_row_sum, product);
  const dnnl::primitive_attr attributes = builder.PrimitiveAttributes();
  // oneDNN wants the forward primitive for a gradient.
  const inner_product_forward::primitive_desc forward(
      inner_product_forward::desc(builder.forward_kind(), RowsOf(input),
                                  kernel(input->type), row_sum,
                                  Layout(gradient->shape, Format::nc)),
      attributes, builder.engine());
  const inner_product_backward_weights::primitive_desc description(
      inner_product_backward_weights::desc(RowsOf(input), kernel(product->type),
                                           row_sum, RowsOf(gradient)),
      attributes, builder.engine(), forward);
  std::vector<PrimitiveArgument> arguments = {
      {DNNL_ARG_SRC, input, RowsOf(input)},
      {DNNL_ARG_DIFF_DST, gradient, RowsOf(gradient)},
      {DNNL_ARG_DIFF_WEIGHTS, product, kernel(product->type)}};
  if (options.has_row_sum) {
    arguments.push_back({DNNL_ARG_DIFF_BIAS, call.more_outputs[0], row_sum});
  }
  builder.AddPrimitive(inner_product_backward_weights(description),
                       description.scratchpad_desc(), std::move(arguments));
  return product;
}

// Matrices that lie one behind the other, after their transposition: (count,
// rows, columns).
dnnl::memory::desc MatricesOf(const Tensor* tensor, bool are_transposed) {
  const int64_t columns = tensor->shape.back();
  const int64_t rows = tensor->shape[tensor->shape.size() - 2];
  const int64_t count = tensor->count() / (rows * columns);
  return are_transposed
             ? Layout({count, columns, rows}, Format::acb, tensor->type)
             : Layout({count, rows, columns}, Format::abc, tensor->type);
}

// All other products: of several matrices, or with both sides transposed.
Tensor* AddProducts(const PlacedCall& call, ProgramBuilder& builder) {
  const op::MatrixProductOptions& options = OptionsOf(call);
  Tensor* const left = builder.Computed(call.inputs[0]);
  Tensor* const right = builder.Computed(call.inputs[1]);
  Tensor* const product = OutputOf(call, builder);
  const dnnl::memory::desc source =
      MatricesOf(left, options.left_is_transposed);
  const dnnl::memory::desc weights =
      MatricesOf(right, options.right_is_transposed);
  const dnnl::memory::desc result = MatricesOf(product, false);
  const dnnl::matmul::primitive_desc description(
      dnnl::matmul::desc(source, weights, result),
      builder.PrimitiveAttributes(), builder.engine());
  builder.AddPrimitive(dnnl::matmul(description), description.scratchpad_desc(),
                       {{DNNL_ARG_SRC, left, source},
                        {DNNL_ARG_WEIGHTS, right, weights},
                        {DNNL_ARG_DST, product, result}});
  return product;
}

bool IsInnerProduct(const op::MatrixProductOptions& options, size_t rank) {
  return rank == 2 &&
         !(options.left_is_transposed && options.right_is_transposed);
}

}  // namespace

bool HasMatrixProduct(const op::Operation& operation,
                      absl::Span<const op::TensorType> inputs) {
  const op::MatrixProductOptions& options =
      static_cast<const op::MatrixProductOperation&>(operation).options();
  const bool is_inner = IsInnerProduct(options, inputs[0].shape.size());
  return (!options.has_bias || (is_inner && !options.left_is_transposed)) &&
         (!options.has_row_sum || (is_inner && options.left_is_transposed));
}

Tensor* AddMatrixProduct(const PlacedCall& call, ProgramBuilder& builder) {
  const op::MatrixProductOptions& options = OptionsOf(call);
  if (!IsInnerProduct(options, call.inputs[0]->shape.size())) {
    return AddProducts(call, builder);
  }
  return options.left_is_transposed ? AddKernelGradient(call, builder)
                                    : AddProductOfRows(call, builder);
}

}  // namespace paceline::cpu
