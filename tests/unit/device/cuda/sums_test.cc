#include "worker/device/cuda/kernels/sums.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline::cuda {
namespace {

using testing::Each;
using testing::Le;

template <typename Kernel>
void Run(const Kernel& kernel, int64_t count) {
  for (int64_t i = 0; i < count; ++i) kernel(i);
}

// By passes as the device runs them.
std::vector<double> SumOf(const std::vector<float>& values, int64_t rows,
                          int64_t columns) {
  int64_t parts = FirstPartCount(rows, columns);
  std::vector<double> sums(parts * columns);
  Run(ColumnSums<double>{rows,
                         columns,
                         parts,
                         {values.data(), DataType::kFloat32},
                         sums.data()},
      parts * FourBlocks(columns));
  while (parts > kMaxLastParts) {
    const int64_t next = NextPartCount(parts);
    std::vector<double> next_sums(next * columns);
    Run(SumsOfDoubles<double>{parts, columns, next, sums.data(),
                              next_sums.data()},
        next * columns);
    sums = std::move(next_sums);
    parts = next;
  }
  std::vector<double> last(columns);
  Run(SumsOfDoubles<double>{parts, columns, 1, sums.data(), last.data()},
      columns);
  return last;
}

// Whole numbers, whose sums are exact in any order.
TEST(SumsTest, PassesAddUpEachTermOnce) {
  for (const int64_t columns : {1, 3, 4, 6}) {
    for (const int64_t rows : {1, 7, 8, 63, 64, 65, 2049, 5000, 300000}) {
      std::vector<float> values(rows * columns);
      std::vector<double> expected(columns);
      for (int64_t i = 0; i < rows * columns; ++i) {
        values[i] = static_cast<float>(i % 101);
        expected[i % columns] += values[i];
      }
      EXPECT_EQ(SumOf(values, rows, columns), expected)
          << rows << " rows, " << columns << " columns";
    }
  }
}

// What a pass costs is its number of terms (sums.h).
TEST(SumsTest, APassAfterTheFirstHasFewTerms) {
  for (const int64_t first : {65, 100, 4096, 4097, 1 << 18}) {
    std::vector<int64_t> terms;
    for (int64_t parts = first; parts > kMaxLastParts;) {
      const int64_t next = NextPartCount(parts);
      ASSERT_LT(next, parts);
      terms.push_back((parts + next - 1) / next);
      parts = next;
    }
    EXPECT_THAT(terms, Each(Le(kMaxLastParts + 1))) << first << " parts";
  }
}

}  // namespace
}  // namespace paceline::cuda
