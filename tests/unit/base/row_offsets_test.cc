#include "common/base/row_offsets.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace paceline {
namespace {

TEST(RowOffsetsTest, AreThoseOfRowsAtRegularDistances) {
  RowOffsets offsets(8);
  for (int64_t row = 0; row < 1000; ++row) {
    offsets.Add(10 * row);
    EXPECT_EQ(offsets.row_count(), row + 1);
    int64_t known = 0;
    for (int64_t i = 0; i <= row; ++i) {
      const RowOffsets::Place place = offsets.AtOrBefore(i);
      ASSERT_LE(place.row, i);
      ASSERT_EQ(place.offset, 10 * place.row);
      known += place.row == i ? 1 : 0;
    }
    ASSERT_LE(known, 8);
    ASSERT_GE(known, std::min<int64_t>(4, row + 1));
  }
}

}  // namespace
}  // namespace paceline
