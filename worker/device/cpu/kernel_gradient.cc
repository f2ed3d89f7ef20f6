#include "worker/device/cpu/kernel_gradient.h"

#include <algorithm>
#include <dnnl.hpp>

#include "glog/logging.h"
#include "worker/device/cpu/parallel.h"

namespace paceline::cpu {
namespace {

// Bytes of an im2col matrix: enough rows to make a matrix product efficient,
// few enough to fit in the shared cache.
constexpr int64_t kMatrixBytes = 2 << 20;

// result (rows, columns) = leftᵀ · right + beta · result, where left is (inner,
// rows) and right (inner, columns).
void Multiply(int64_t rows, int64_t columns, int64_t inner, const float* left,
              const float* right, float beta, float* result) {
  const dnnl_status_t status =
      dnnl_sgemm('T', 'N', rows, columns, inner, /*alpha=*/1, left, rows, right,
                 columns, beta, result, columns);
  CHECK_EQ(status, dnnl_success);
}

}  // namespace

void AddKernelGradient(const Im2ColGeometry& geometry, const Tensor* input,
                       const Tensor* gradient, const Tensor* kernel_gradient,
                       const Tensor* bias_gradient, ProgramBuilder& builder) {
  const int64_t columns = geometry.columns;
  const int64_t filters = gradient->shape.back();
  const int64_t rows = gradient->shape[0] * geometry.rows;
  const int64_t row_bytes =
      columns * geometry.patch_size() * static_cast<int64_t>(sizeof(float));
  const int64_t rows_each =
      std::clamp<int64_t>(kMatrixBytes / row_bytes, 1, rows);
  Tensor* const matrix =
      builder.NewTensor({rows_each * columns, geometry.patch_size()});
  Tensor* const ones = builder.NewTensor({rows_each * columns});
  builder.Add({input, gradient, matrix, ones}, [=](const Step&) {
    std::fill_n(ones->floats(), ones->count(), 1.0f);
    for (int64_t row = 0; row < rows; row += rows_each) {
      const int64_t count = std::min(rows_each, rows - row);
      ParallelFor(
          count, columns * geometry.patch_size(),
          [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              Im2Col(geometry, row + i, input->floats(),
                     matrix->floats() + i * columns * geometry.patch_size());
            }
          });
      const float* const part = gradient->floats() + row * columns * filters;
      const float beta = row == 0 ? 0 : 1;
      Multiply(geometry.patch_size(), filters, count * columns,
               matrix->floats(), part, beta, kernel_gradient->floats());
      if (bias_gradient == nullptr) continue;
      Multiply(1, filters, count * columns, ones->floats(), part, beta,
               bias_gradient->floats());
    }
  });
}

}  // namespace paceline::cpu
