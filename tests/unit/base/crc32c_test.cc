#include "common/base/crc32c.h"

#include <vector>

#include "gtest/gtest.h"

namespace paceline {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32cTest, IsThatOfTheStandard) {
  const std::vector<std::byte> zeros(32);
  EXPECT_EQ(ExtendCrc32c(0, zeros), 0x8a9136aaU);
  std::vector<std::byte> ascending(32);
  for (int i = 0; i < 32; ++i) ascending[i] = static_cast<std::byte>(i);
  EXPECT_EQ(ExtendCrc32c(0, ascending), 0x46dd794eU);
  const absl::Span<const std::byte> all(ascending);
  EXPECT_EQ(ExtendCrc32c(ExtendCrc32c(0, all.first(5)), all.subspan(5)),
            0x46dd794eU);
  EXPECT_EQ(ExtendCrc32c(0, {}), 0U);
}

}  // namespace
}  // namespace paceline
