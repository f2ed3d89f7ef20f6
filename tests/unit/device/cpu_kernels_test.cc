// Kernels of the CPU device that have formulas of their own.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/device/arg_max.h"
#include "worker/device/cpu/kernels/arg_max.h"
#include "worker/device/cpu/kernels/arithmetic.h"
#include "worker/device/cpu/kernels/batch_normalization.h"
#include "worker/device/cpu/kernels/elementwise.h"
#include "worker/device/cpu/kernels/group_normalization.h"
#include "worker/device/cpu/kernels/pooling.h"
#include "worker/device/cpu/kernels/softmax.h"
#include "worker/device/row_geometry.h"

namespace paceline::cpu {
namespace {

using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Lengths with and without a remainder behind full vectors.
constexpr int64_t kSizes[] = {1, 7, 16, 17, 100, 1000};

std::vector<float> SomeValues(int64_t count, int salt) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((i * 7919 + salt * 611) % 2003) / 200 - 5;
  }
  return values;
}

std::vector<float> Computed(op::ElementFunction function,
                            const std::vector<float>& x) {
  std::vector<float> y(x.size());
  ComputeElements(function, static_cast<int64_t>(x.size()), x.data(), nullptr,
                  nullptr, y.data());
  return y;
}

TEST(ExpTest, IsWithinTwoUnitsInTheLastPlace) {
  std::vector<float> x;
  for (int i = 0; i < 400'003; ++i) {
    x.push_back(-87 + 175.7f * static_cast<float>(i) / 400'003);
  }
  const std::vector<float> y = Computed(op::ElementFunction::kExp, x);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(double{x[i]});
    const auto nearest = static_cast<float>(expected);
    const double unit = double{std::nextafter(nearest, kInfinity)} - nearest;
    worst = std::max(worst, std::abs(y[i] - expected) / unit);
  }
  EXPECT_LT(worst, 2);
}

TEST(TanhTest, IsWithinTwoUnitsInTheLastPlace) {
  std::vector<float> x;
  for (int i = 0; i < 400'003; ++i) {
    x.push_back(-10 + 20 * static_cast<float>(i) / 400'003);
    x.push_back(std::ldexp(x.back(), -20));
  }
  const std::vector<float> y = Computed(op::ElementFunction::kTanh, x);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::tanh(double{x[i]});
    const auto nearest = static_cast<float>(std::abs(expected));
    const double unit = nearest - double{std::nextafter(nearest, 0.0f)};
    worst = std::max(worst, std::abs(y[i] - expected) / unit);
  }
  EXPECT_LT(worst, 2);
}

TEST(TanhTest, KeepsNanAndEndsAt1) {
  const std::vector<float> y = Computed(
      op::ElementFunction::kTanh, {kNan, kInfinity, -kInfinity, 0, 1e30f});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], -1);
  EXPECT_EQ(y[3], 0);
  EXPECT_EQ(y[4], 1);
}

TEST(ExpTest, HasTheLimitsOfExp) {
  // In full vectors, and behind them.
  std::vector<float> x(16, 0);
  x.insert(x.begin(), {-kInfinity, -1000, kInfinity, 1000, kNan, -kNan});
  x.insert(x.end(), {-kInfinity, -1000, kInfinity, 1000, kNan, -kNan});
  const std::vector<float> exp = Computed(op::ElementFunction::kExp, x);
  const std::vector<float> sigmoid = Computed(op::ElementFunction::kSigmoid, x);
  for (const size_t begin : {size_t{0}, x.size() - 6}) {
    EXPECT_EQ(exp[begin], 0);
    EXPECT_EQ(exp[begin + 1], 0);
    EXPECT_EQ(exp[begin + 2], kInfinity);
    EXPECT_EQ(exp[begin + 3], kInfinity);
    EXPECT_EQ(sigmoid[begin + 1], 0);
    EXPECT_EQ(sigmoid[begin + 3], 1);
    for (const size_t nan : {begin + 4, begin + 5}) {
      EXPECT_TRUE(std::isnan(exp[nan])) << nan;
      EXPECT_TRUE(std::isnan(sigmoid[nan])) << nan;
    }
  }
  EXPECT_EQ(exp[8], 1);
  EXPECT_EQ(sigmoid[8], 0.5f);
}

// The elements of a row are so far apart.
class RowsTest : public ::testing::TestWithParam<int64_t> {
 protected:
  // Calls check(offset of the first element) for each row.
  template <typename Check>
  void ForEachRow(const RowGeometry& rows, const Check& check) const {
    for (int64_t row = 0; row < RowCount(rows); ++row) check(rows.Offset(row));
  }
  static int64_t RowCount(const RowGeometry& rows) { return 3 * rows.stride; }
};

TEST_P(RowsTest, SoftmaxesAreThoseOfDoubles) {
  for (const int64_t size : kSizes) {
    SCOPED_TRACE(size);
    const RowGeometry rows{.size = size, .stride = GetParam()};
    const int64_t count = RowCount(rows) * size;
    const std::vector<float> x = SomeValues(count, 1);
    const std::vector<float> dy = SomeValues(count, 2);
    std::vector<float> y(count), log_y(count), dx(count), log_dx(count);
    SoftmaxForward(rows, 0, RowCount(rows), x.data(), y.data());
    LogSoftmaxForward(rows, 0, RowCount(rows), x.data(), log_y.data());
    SoftmaxBackward(rows, 0, RowCount(rows), y.data(), dy.data(), dx.data());
    LogSoftmaxBackward(rows, 0, RowCount(rows), log_y.data(), dy.data(),
                       log_dx.data());
    ForEachRow(rows, [&](int64_t first) {
      double sum = 0, mean_dy = 0, sum_dy = 0;
      const auto at = [&](int64_t i) { return first + i * rows.stride; };
      for (int64_t i = 0; i < size; ++i) sum += std::exp(double{x[at(i)]});
      const auto p = [&](int64_t i) {
        return std::exp(double{x[at(i)]}) / sum;
      };
      for (int64_t i = 0; i < size; ++i) {
        mean_dy += p(i) * dy[at(i)];
        sum_dy += dy[at(i)];
      }
      for (int64_t i = 0; i < size; ++i) {
        ASSERT_NEAR(y[at(i)], p(i), 1e-6) << i;
        ASSERT_NEAR(log_y[at(i)], std::log(p(i)), 1e-5) << i;
        ASSERT_NEAR(dx[at(i)], p(i) * (dy[at(i)] - mean_dy), 1e-5) << i;
        ASSERT_NEAR(log_dx[at(i)], dy[at(i)] - p(i) * sum_dy, 2e-4) << i;
      }
    });
  }
}

TEST_P(RowsTest, NanGoesThroughSoftmaxes) {
  for (const int64_t size : {17, 100}) {
    for (const int64_t nan : {int64_t{0}, size / 2, size - 1}) {
      const RowGeometry rows{.size = size, .stride = GetParam()};
      const int64_t count = RowCount(rows) * size;
      std::vector<float> x = SomeValues(count, 1);
      x[rows.Index(1, nan)] = kNan;
      std::vector<float> y(count), log_y(count);
      SoftmaxForward(rows, 0, RowCount(rows), x.data(), y.data());
      LogSoftmaxForward(rows, 0, RowCount(rows), x.data(), log_y.data());
      for (int64_t row = 0; row < RowCount(rows); ++row) {
        for (int64_t i = 0; i < size; ++i) {
          ASSERT_EQ(std::isnan(y[rows.Index(row, i)]), row == 1);
          ASSERT_EQ(std::isnan(log_y[rows.Index(row, i)]), row == 1);
        }
      }
    }
  }
}

TEST_P(RowsTest, SumsAreThoseOfDoubles) {
  for (const int64_t size : kSizes) {
    const RowGeometry rows{.size = size, .stride = GetParam()};
    const std::vector<float> x = SomeValues(RowCount(rows) * size, 1);
    std::vector<float> sums(RowCount(rows));
    SumRows(rows, 0, RowCount(rows), x.data(), sums.data());
    for (int64_t row = 0; row < RowCount(rows); ++row) {
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) sum += x[rows.Index(row, i)];
      ASSERT_FLOAT_EQ(sums[row], static_cast<float>(sum)) << size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Strides, RowsTest, ::testing::Values(1, 3));

// Values (3, 5, groups · size), as blocks of small groups, the last of which is
// smaller, or as groups one by one.
class GroupNormalizationKernelTest
    : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {
 protected:
  static constexpr int64_t kExamples = 3;

  GroupNormalizationKernelTest() {
    groups_.values = x_.data();
    groups_.gamma = gamma_.data();
    groups_.means = means_.data();
    groups_.factors = factors_.data();
  }

  NormalizedGroups groups_ = {
      .positions = 5, .groups = GetParam().first, .size = GetParam().second};
  const int64_t blocks_ = kExamples * groups_.blocks_of_example();
  const int64_t count_ = kExamples * groups_.positions * groups_.columns();
  const std::vector<float> x_ = SomeValues(count_, 1);
  const std::vector<float> dy_ = SomeValues(count_, 2);
  const std::vector<float> gamma_ = SomeValues(groups_.columns(), 3);
  const std::vector<float> beta_ = SomeValues(groups_.columns(), 4);
  std::vector<float> means_ = std::vector<float>(kExamples * groups_.groups);
  std::vector<float> factors_ = means_;
};

TEST_P(GroupNormalizationKernelTest, RangesGiveTheSameBits) {
  std::vector<float> whole(count_), parts(count_);
  GroupNormalizationForward(groups_, 0.1, beta_.data(), 0, blocks_,
                            whole.data());
  for (int64_t i = 0; i < blocks_; ++i) {
    GroupNormalizationForward(groups_, 0.1, beta_.data(), i, i + 1,
                              parts.data());
  }
  EXPECT_EQ(parts, whole);

  GroupNormalizationBackward(groups_, 0, blocks_, dy_.data(), whole.data());
  for (int64_t i = 0; i < blocks_; ++i) {
    GroupNormalizationBackward(groups_, i, i + 1, dy_.data(), parts.data());
  }
  EXPECT_EQ(parts, whole);

  const int64_t columns = groups_.columns();
  std::vector<float> gamma(columns), beta(columns);
  std::vector<float> part_gamma(columns), part_beta(columns);
  GroupNormalizationSums(groups_, kExamples, 0, columns, dy_.data(),
                         gamma.data(), beta.data());
  for (int64_t i = 0; i < columns; ++i) {
    GroupNormalizationSums(groups_, kExamples, i, i + 1, dy_.data(),
                           part_gamma.data(), part_beta.data());
  }
  EXPECT_EQ(part_gamma, gamma);
  EXPECT_EQ(part_beta, beta);
}

TEST_P(GroupNormalizationKernelTest, GradientsMayLieWhereTheirInputsDo) {
  std::vector<float> y(count_), dx(count_), over_x = x_, over_dy = dy_;
  GroupNormalizationForward(groups_, 0.1, beta_.data(), 0, blocks_, y.data());
  GroupNormalizationBackward(groups_, 0, blocks_, dy_.data(), dx.data());
  GroupNormalizationBackward(groups_, 0, blocks_, over_dy.data(),
                             over_dy.data());
  EXPECT_EQ(over_dy, dx);
  groups_.values = over_x.data();
  GroupNormalizationBackward(groups_, 0, blocks_, dy_.data(), over_x.data());
  EXPECT_EQ(over_x, dx);
}

INSTANTIATE_TEST_SUITE_P(Groups, GroupNormalizationKernelTest,
                         ::testing::Values(std::pair(1, 100), std::pair(4, 2),
                                           std::pair(50, 3), std::pair(3, 70)));

// Beside a large mean, whatever the first row is, and where the mean changes.
TEST(ChannelMomentsTest, HaveTheDigitsOfASmallVariance) {
  struct Change {
    float first;
    float mean;
    // Of what is behind the first half.
    float later_mean;
  };
  for (const auto& [first, mean, later_mean] :
       {Change{0, 0, 0}, Change{1e7, 1e7, 1e7}, Change{0, 1e6, 1e6},
        Change{1e6, 0, 0}, Change{1e5, 1e5, -1e5}}) {
    // Σ d² of the first tile is up to 32 times what is left of it.
    const double tolerance = first == mean ? 2e-6 : 4e-5;
    for (const int64_t channels : {1, 37, 64}) {
      for (const int64_t rows : {1, 2, 31, 32, 99, 1001}) {
        SCOPED_TRACE(testing::Message() << mean << " " << rows);
        std::vector<float> values = SomeValues(rows * channels, 1);
        for (int64_t i = 0; i < rows * channels; ++i) {
          values[i] += 2 * i < rows * channels ? mean : later_mean;
        }
        std::fill_n(values.begin(), channels, first);
        std::vector<double> means(channels), deviations(channels);
        ChannelMoments(channels, 0, rows, {values.data(), DataType::kFloat32},
                       means.data(), deviations.data());
        for (int64_t c = 0; c < channels; ++c) {
          double expected_mean = 0, expected = 0;
          for (int64_t row = 0; row < rows; ++row) {
            expected_mean += values[row * channels + c];
          }
          expected_mean /= static_cast<double>(rows);
          for (int64_t row = 0; row < rows; ++row) {
            const double d = values[row * channels + c] - expected_mean;
            expected += d * d;
          }
          ASSERT_NEAR(means[c], expected_mean,
                      1e-6 * std::sqrt(expected) + 1e-9);
          ASSERT_NEAR(deviations[c], expected, tolerance * expected);
        }
      }
    }
  }
}

TEST(ChannelMomentsTest, OfEqualRowsHaveNoDeviationAndNanStays) {
  const std::vector<float> values(1000, 0.1f);
  double mean = 0, deviation = 1;
  ChannelMoments(1, 0, 1000, {values.data(), DataType::kFloat32}, &mean,
                 &deviation);
  EXPECT_EQ(mean, double{0.1f});
  EXPECT_EQ(deviation, 0);
  std::vector<float> broken = values;
  broken[77] = kNan;
  ChannelMoments(1, 0, 1000, {broken.data(), DataType::kFloat32}, &mean,
                 &deviation);
  EXPECT_TRUE(std::isnan(mean));
  EXPECT_TRUE(std::isnan(deviation));
}

TEST(ArgMaxOfRowsTest, TakesTheFirstOfEqualOnesAndNanLast) {
  const std::vector<float> rows = {1,    3,    3,           //
                                   kNan, -2,   kNan,        //
                                   kNan, kNan, kNan,        //
                                   kNan, kNan, -kInfinity,  //
                                   5,    kNan, kInfinity};
  int32_t indices[5];
  ArgMaxOfRows(5, 3, rows.data(), indices);
  EXPECT_THAT(indices, ElementsAre(1, 1, 0, 2, 2));
}

TEST(ArgMaxOfRowsTest, FindsItAnywhereInLongRows) {
  for (const int64_t size : {1, 7, 16, 17, 100, 1000}) {
    std::vector<float> row(size);
    for (int64_t i = 0; i < size; ++i) {
      row[i] = i % 5 == 3 ? kNan : static_cast<float>(i * 7919 % 101);
    }
    for (const int64_t at : {int64_t{0}, size / 2, size - 1}) {
      std::vector<float> with_largest = row;
      with_largest[at] = 200;
      int32_t index = -1;
      ArgMaxOfRows(1, size, with_largest.data(), &index);
      EXPECT_EQ(index, at) << size;
      EXPECT_EQ(ArgMaxOf(with_largest.data(), size), at) << size;
    }
    int32_t index = -1;
    ArgMaxOfRows(1, size, row.data(), &index);
    EXPECT_EQ(index, ArgMaxOf(row.data(), size)) << size;
  }
}

// One image of 2 × 2 pixels, which is one window.
TEST(MaxPoolTest, ItsGradientGoesToOnePixelWhateverItIs) {
  constexpr op::WindowAxis kBoth = {.size = 2, .stride = 2};
  const PoolWindows windows = MakePoolWindows({kBoth, kBoth}, {1, 2, 2, 1});
  const auto gradients = [&](const std::vector<float>& x, float dy) {
    float y;
    MaxPoolForward(windows, /*rectifies=*/false, 0, 1, x.data(), &y);
    std::vector<float> dx(x.size());
    MaxPoolBackward(windows, /*rectifies=*/false, 0, 1, x.data(), &y, &dy,
                    dx.data());
    return dx;
  };
  EXPECT_THAT(gradients({1, 4, 4, 2}, 3), ElementsAre(0, 3, 0, 0));
  EXPECT_THAT(gradients({1, 4, 4, 2}, kInfinity),
              ElementsAre(0, kInfinity, 0, 0));
  EXPECT_THAT(gradients({1, 4, kNan, 2}, 3), ElementsAre(3, 0, 0, 0));
}

}  // namespace
}  // namespace paceline::cpu
