// What cuBLASLt is not asked for. It answers without a GPU that it has none.
#include "worker/device/cuda/plugin/cublas_lt_product.h"

#include <cstddef>

#include "gtest/gtest.h"

namespace paceline::cuda {
namespace {

// A product of 4 by 4 elements whose bias or sums are `offset` floats behind an
// alignment.
cublasStatus_t Multiply(bool has_bias, size_t offset) {
  alignas(64) float values[16 + 8] = {};
  MatrixProduct product = {.rows = 4, .columns = 4, .inner = 4};
  product.left = {values, DataType::kFloat32};
  product.right = {values, DataType::kFloat32};
  product.result = Values(values, DataType::kFloat32);
  float* const vector = values + 16 + offset;
  if (has_bias) {
    product.bias = {vector, DataType::kFloat32};
  } else {
    product.column_sums = vector;
  }
  return MultiplyFused(/*context=*/{}, product);
}

// In a test of the GPU it could pass by chance: only some algorithms mind.
TEST(CublasLtProductTest, IsNotAskedWithABiasThatLiesBetweenVectors) {
  for (const bool has_bias : {false, true}) {
    SCOPED_TRACE(has_bias);
    for (const size_t offset : {0, 4}) {
      EXPECT_EQ(Multiply(has_bias, offset), CUBLAS_STATUS_NOT_INITIALIZED);
    }
    for (const size_t offset : {1, 2, 3}) {
      EXPECT_EQ(Multiply(has_bias, offset), CUBLAS_STATUS_NOT_SUPPORTED);
    }
  }
}

}  // namespace
}  // namespace paceline::cuda
