#include "worker/inspection/label_counter.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LabelCounterTest, CountsClassIds) {
  LabelCounter counter({"digit", {}, {3}});
  counter.AddIds(std::vector<int32_t>{2, 0});
  counter.AddIds(std::vector<int32_t>{2});
  EXPECT_THAT(counter.counts(), ElementsAre(1, 0, 2));
}

TEST(LabelCounterTest, CountsOneHotVectors) {
  LabelCounter counter({"digit", {3}});
  counter.AddValues(std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0, 1});
  EXPECT_THAT(counter.counts(), ElementsAre(1, 0, 2));
}

TEST(LabelCounterTest, CountsZerosAndOnes) {
  for (const Shape& shape : {Shape{}, Shape{1}}) {
    LabelCounter counter({"is_odd", shape});
    counter.AddValues(std::vector<float>{0, 1, 1});
    EXPECT_THAT(counter.counts(), ElementsAre(1, 2));
  }
}

TEST(LabelCounterTest, OneLabelOfNoClassEndsTheCounting) {
  const std::vector<float> labels[] = {
      {0, 1, 0, 0}, {0, 1, 1, 1}, {0, 1, 0, 0.5}};
  for (const std::vector<float>& two : labels) {
    LabelCounter counter({"is_odd", {2}});
    counter.AddValues(two);
    EXPECT_THAT(counter.counts(), IsEmpty());
    counter.AddValues(std::vector<float>{0, 1});
    EXPECT_THAT(counter.counts(), IsEmpty());
  }
}

TEST(LabelCounterTest, APictureIsOfNoClass) {
  LabelCounter counter({"mask", {2, 2}});
  counter.AddValues(std::vector<float>{0, 0, 0, 1});
  EXPECT_THAT(counter.counts(), IsEmpty());
}

}  // namespace
}  // namespace paceline
