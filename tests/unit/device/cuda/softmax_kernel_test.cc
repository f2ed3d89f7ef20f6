// Softmax of rows in one part and in several, against a plain loop.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "worker/device/cuda/kernels/softmax.h"

namespace paceline::cuda {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Rows of `size` elements, and how far apart these are.
std::vector<float> Softmax(const std::vector<float>& x, RowGeometry geometry,
                           bool is_log) {
  const RowParts parts = PartsOf(geometry);
  const int64_t indices =
      static_cast<int64_t>(x.size()) / geometry.size * parts.parts;
  std::vector<ExpSum> part_sums(indices);
  std::vector<float> y(x.size());
  const ExpSums sums = {
      parts, {x.data(), DataType::kFloat32}, part_sums.data()};
  const SoftmaxForward forward = {sums, is_log, {y.data(), DataType::kFloat32}};
  if (parts.parts > 1) {
    for (int64_t i = 0; i < indices; ++i) sums(i);
  }
  for (int64_t i = 0; i < indices; ++i) forward(i);
  return y;
}

std::vector<float> SomeValues(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = std::sin(static_cast<float>(7 * i)) * 20;
  }
  return values;
}

TEST(SoftmaxKernelTest, RowsOfAnyLength) {
  for (const int64_t size : {1, 10, 31, 32, 100, 1000}) {
    for (const int64_t stride : {1, 3}) {
      SCOPED_TRACE(testing::Message() << size << " by " << stride);
      const RowGeometry geometry = {size, stride};
      const int64_t rows = 2 * stride;
      const std::vector<float> x = SomeValues(rows * size);
      const std::vector<float> y = Softmax(x, geometry, /*is_log=*/false);
      const std::vector<float> log_y = Softmax(x, geometry, /*is_log=*/true);
      for (int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (int64_t e = 0; e < size; ++e) {
          sum += std::exp(static_cast<double>(x[geometry.Index(row, e)]));
        }
        for (int64_t e = 0; e < size; ++e) {
          const int64_t at = geometry.Index(row, e);
          const double expected = x[at] - std::log(sum);
          EXPECT_NEAR(log_y[at], expected, 1e-4);
          EXPECT_NEAR(y[at], std::exp(expected), 1e-6);
        }
      }
    }
  }
}

TEST(SoftmaxKernelTest, PartsOfMinusInfinityHaveNoShare) {
  std::vector<float> x(100, -kInfinity);
  x[37] = 2;
  const std::vector<float> y = Softmax(x, {100, 1}, /*is_log=*/false);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(y[i], i == 37 ? 1 : 0) << i;
}

TEST(SoftmaxKernelTest, NanAndRowsWithoutALargestAreNan) {
  for (const int64_t size : {10, 100}) {
    std::vector<float> x(size, 1);
    x.back() = NAN;
    for (const float each : Softmax(x, {size, 1}, false)) {
      EXPECT_TRUE(std::isnan(each)) << size;
    }
    x.assign(size, -kInfinity);
    for (const float each : Softmax(x, {size, 1}, false)) {
      EXPECT_TRUE(std::isnan(each)) << size;
    }
  }
}

TEST(SoftmaxKernelTest, GradientsOfAnyLength) {
  for (const int64_t size : {10, 100, 1000}) {
    for (const bool is_log : {false, true}) {
      SCOPED_TRACE(testing::Message() << size << (is_log ? " log" : ""));
      const RowGeometry geometry = {size, 1};
      const std::vector<float> y =
          Softmax(SomeValues(2 * size), geometry, is_log);
      std::vector<float> dy = SomeValues(2 * size + 5);
      dy.erase(dy.begin(), dy.begin() + 5);
      const RowParts parts = PartsOf(geometry);
      std::vector<float> part_sums(2 * parts.parts);
      std::vector<float> dx = dy;  // In place.
      const SoftmaxGradientSums sums = {parts,
                                        is_log,
                                        {y.data(), DataType::kFloat32},
                                        {dx.data(), DataType::kFloat32},
                                        part_sums.data()};
      const SoftmaxBackward backward = {sums, {dx.data(), DataType::kFloat32}};
      const auto count = static_cast<int64_t>(part_sums.size());
      if (parts.parts > 1) {
        for (int64_t i = 0; i < count; ++i) sums(i);
      }
      for (int64_t i = 0; i < count; ++i) backward(i);
      for (int64_t row = 0; row < 2; ++row) {
        double sum = 0;
        for (int64_t i = row * size; i < (row + 1) * size; ++i) {
          sum += is_log ? dy[i] : y[i] * dy[i];
        }
        for (int64_t i = row * size; i < (row + 1) * size; ++i) {
          EXPECT_NEAR(
              dx[i],
              is_log ? dy[i] - std::exp(y[i]) * sum : y[i] * (dy[i] - sum),
              1e-4);
        }
      }
    }
  }
}

}  // namespace
}  // namespace paceline::cuda
