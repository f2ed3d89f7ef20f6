#include "worker/device/box_axes.h"

#include "gtest/gtest.h"

namespace paceline {
namespace {

// Of each element of the box, its index in the whole, by coordinates.
std::vector<int64_t> WholeIndices(const Shape& starts, const Shape& sizes,
                                  const Shape& whole) {
  std::vector<int64_t> indices;
  Shape at(sizes.size());
  for (int64_t i = 0; i < NumElements(sizes); ++i) {
    int64_t rest = i;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      at[axis] = rest % sizes[axis];
      rest /= sizes[axis];
    }
    int64_t index = 0;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      index = index * whole[axis] + starts[axis] + at[axis];
    }
    indices.push_back(index);
  }
  return indices;
}

void ExpectBox(const Shape& starts, const Shape& sizes, const Shape& whole,
               int axis_count) {
  const BoxAxes box = MakeBoxAxes(starts, sizes, whole);
  EXPECT_EQ(box.count, axis_count);
  const std::vector<int64_t> indices = WholeIndices(starts, sizes, whole);
  std::vector<int64_t> boxes(NumElements(whole), -1);
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(box.WholeIndex(static_cast<int64_t>(i)), indices[i]) << i;
    boxes[indices[i]] = static_cast<int64_t>(i);
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_EQ(box.BoxIndex(static_cast<int64_t>(i)), boxes[i]) << i;
  }
}

TEST(BoxAxesTest, TheWholeIsOneAxis) {
  ExpectBox({0, 0, 0}, {2, 3, 4}, {2, 3, 4}, 1);
}

TEST(BoxAxesTest, AxesBehindACutAreOneWithIt) {
  ExpectBox({0, 1, 0}, {2, 2, 4}, {2, 5, 4}, 2);
}

TEST(BoxAxesTest, CutsAlongTwoAxes) {
  ExpectBox({0, 1, 2, 0}, {2, 3, 4, 5}, {2, 5, 7, 5}, 3);
}

TEST(BoxAxesTest, CutsAlongTheLastAxis) {
  ExpectBox({0, 0, 3}, {2, 3, 2}, {2, 3, 6}, 2);
}

TEST(BoxAxesTest, CutsAlongTheFirstAxis) {
  ExpectBox({1, 0}, {2, 3}, {4, 3}, 1);
}

TEST(BoxAxesTest, AxesOfOneElement) {
  ExpectBox({0, 2, 0, 1}, {1, 1, 1, 2}, {1, 4, 1, 3}, 2);
}

}  // namespace
}  // namespace paceline
