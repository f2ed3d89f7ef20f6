#include "worker/device/cuda/orthogonalize.h"

#include <cstdint>
#include <utility>

namespace paceline::cuda {
namespace {

// result (rows, columns) = left · right.
void AddFloatProduct(ProgramBuilder& builder, const Tensor* left,
                     const Tensor* right, const Tensor* result,
                     const MatrixProduct& sizes) {
  builder.Add({left, right, result}, [=](Queue& queue) {
    MatrixProduct product = sizes;
    product.left = ValuesOf(left);
    product.right = ValuesOf(right);
    product.result = ValuesOf(result);
    queue.Multiply(product);
  });
}

// y = a · x + b · y.
void AddCombination(ProgramBuilder& builder, double a, const Tensor* x,
                    double b, const Tensor* y) {
  builder.AddKernel({x, y}, y->count(), [=] {
    return CombineElements{static_cast<float>(a), x->floats(),
                           static_cast<float>(b), y->floats()};
  });
}

// Divides a matrix by its norm.
void AddNormalize(ProgramBuilder& builder, const Tensor* matrix) {
  const int64_t count = matrix->count();
  const int64_t parts = FirstPartCount(count, 1);
  const Tensor* const first = builder.NewTensor<double>({parts});
  const Tensor* const factor = builder.NewTensor<float>({1});
  builder.AddKernel({matrix, first}, parts, [=] {
    return SquareSums{count, parts, matrix->floats(), first->doubles()};
  });
  const PartSums sums = builder.AddPasses({first});
  builder.AddKernel({sums.tensor, factor}, 1, [=] {
    return InvertNorm{sums.parts(), sums.tensor->doubles(), factor->floats()};
  });
  builder.AddKernel({factor, matrix}, count, [=] {
    return ScaleElements{factor->floats(), matrix->floats()};
  });
}

}  // namespace

// For a tall matrix, A is Xᵀ X and is multiplied from the right: X (b A + c
// A²).
const Tensor* AddOrthogonalize(ProgramBuilder& builder,
                               const NewtonSchulz& iteration,
                               const Tensor* matrix) {
  const int64_t rows = matrix->shape[0];
  const int64_t columns = matrix->shape[1];
  const bool is_tall = rows > columns;
  const int64_t size = is_tall ? columns : rows;
  AddNormalize(builder, matrix);
  const Tensor* const a = builder.NewTensor<float>({size, size});
  const Tensor* const polynomial = builder.NewTensor<float>({size, size});
  const Tensor* x = matrix;
  const Tensor* next = builder.NewTensor<float>({rows, columns});
  for (int64_t step = 0; step < iteration.steps; ++step) {
    AddFloatProduct(builder, x, x, a,
                    {.rows = size,
                     .columns = size,
                     .inner = is_tall ? rows : columns,
                     .left_is_transposed = is_tall,
                     .right_is_transposed = !is_tall});
    AddFloatProduct(builder, a, a, polynomial,
                    {.rows = size, .columns = size, .inner = size});
    AddCombination(builder, iteration.b, a, iteration.c, polynomial);
    AddFloatProduct(builder, is_tall ? x : polynomial, is_tall ? polynomial : x,
                    next, {.rows = rows, .columns = columns, .inner = size});
    AddCombination(builder, iteration.a, x, /*b=*/1, next);
    std::swap(x, next);
  }
  return x;
}

}  // namespace paceline::cuda
