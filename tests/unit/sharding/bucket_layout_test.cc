#include "common/sharding/bucket_layout.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/tensor/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;

std::vector<VariableSpec> Vectors(const std::vector<int64_t>& counts) {
  std::vector<VariableSpec> variables;
  for (const int64_t count : counts) {
    variables.push_back(
        {absl::StrCat("v", variables.size()), {count}, nullptr, {}});
  }
  return variables;
}

// Each variable whole on the shard that `shards` says.
Placement Whole(const std::vector<VariableSpec>& variables,
                const std::vector<int>& shards) {
  Placement placement;
  for (size_t v = 0; v < variables.size(); ++v) {
    placement.push_back({{shards[v], 0, NumElements(variables[v].shape)}});
  }
  return placement;
}

TEST(BucketLayoutTest, BucketsCloseAtTheirTargetSize) {
  const int64_t half = limits::kBucketBytes / 4 / 2;
  const auto variables = Vectors({half, half, half, 3 * half, 1});
  const BucketLayout layout(variables, Whole(variables, {0, 0, 0, 0, 0}), 4);
  ASSERT_EQ(layout.buckets().size(), 4u);
  EXPECT_THAT(layout.buckets()[0].variables, ElementsAre(4));
  EXPECT_THAT(layout.buckets()[1].variables, ElementsAre(3));
  EXPECT_THAT(layout.buckets()[2].variables, ElementsAre(2, 1));
  EXPECT_THAT(layout.buckets()[3].variables, ElementsAre(0));
  EXPECT_EQ(layout.element_count(), 6 * half + 1);
}

TEST(BucketLayoutTest, VariablesOfABucketLieByShard) {
  const auto variables = Vectors({10, 20, 30, 40});
  const BucketLayout layout(variables, Whole(variables, {0, 1, 1, 0}), 4);
  ASSERT_EQ(layout.buckets().size(), 1u);
  EXPECT_THAT(layout.buckets()[0].variables, ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(layout.location(3).offset, 0);
  EXPECT_EQ(layout.location(0).offset, 40);
  EXPECT_EQ(layout.location(2).offset, 50);
  EXPECT_EQ(layout.location(1).offset, 80);
}

TEST(BucketLayoutTest, AVariableOnSeveralShardsIsABucketOfItsOwn) {
  const auto variables = Vectors({10, 20, 30});
  Placement placement = Whole(variables, {0, 0, 0});
  placement[1] = {{0, 0, 10}, {1, 10, 10}};
  const BucketLayout layout(variables, placement, 4);
  ASSERT_EQ(layout.buckets().size(), 3u);
  EXPECT_THAT(layout.buckets()[1].variables, ElementsAre(1));
  EXPECT_EQ(layout.location(0).bucket, 2);
}

}  // namespace
}  // namespace paceline
