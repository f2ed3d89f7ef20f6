#include "ps_server/chunk_swaps.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

class ChunkSwapsTest : public ::testing::Test {
 protected:
  // Chunk `failing` has an error; -1: none.
  absl::Status CarryOut(uint64_t order, int failing) {
    return swaps_.CarryOut(order, counts_.size(), [&](size_t chunk) {
      if (static_cast<int>(chunk) == failing) {
        return absl::DeadlineExceededError("a push");
      }
      ++counts_[chunk];
      return absl::OkStatus();
    });
  }

  ChunkSwaps swaps_;
  // How often each chunk has swapped.
  std::vector<int> counts_ = {0, 0, 0};
};

TEST_F(ChunkSwapsTest, ARepeatGoesOnWithTheChunkThatFailed) {
  EXPECT_EQ(CarryOut(1, 1).message(), "a push");
  EXPECT_THAT(counts_, ElementsAre(1, 0, 0));
  EXPECT_FALSE(CarryOut(1, 2).ok());
  EXPECT_THAT(counts_, ElementsAre(1, 1, 0));
  EXPECT_FALSE(CarryOut(1, 2).ok());
  EXPECT_THAT(counts_, ElementsAre(1, 1, 0));
  EXPECT_TRUE(CarryOut(1, -1).ok());
  EXPECT_THAT(counts_, ElementsAre(1, 1, 1));
  EXPECT_TRUE(CarryOut(1, 0).ok());
  EXPECT_THAT(counts_, ElementsAre(1, 1, 1));
}

TEST_F(ChunkSwapsTest, EachOrderSwapsAllChunks) {
  for (uint64_t order = 1; order <= 3; ++order) {
    EXPECT_FALSE(CarryOut(order, 2).ok());
    EXPECT_TRUE(CarryOut(order, -1).ok());
  }
  EXPECT_THAT(counts_, ElementsAre(3, 3, 3));
}

}  // namespace
}  // namespace paceline
