#include "common/optimizer/constrain.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/optimizer/ftrl.h"
#include "common/optimizer/sgd.h"
#include "common/tensor/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

Constraint NonNeg() {
  Constraint constraint;
  constraint.class_name = "NonNeg";
  return constraint;
}

Constraint MinMaxNorm(double least, double most, double rate, AxisList axis) {
  Constraint constraint;
  constraint.class_name = "MinMaxNorm";
  constraint.min_value = least;
  constraint.max_value = most;
  constraint.rate = rate;
  constraint.axis = std::move(axis);
  return constraint;
}

Constraint UnitNorm(AxisList axis) {
  Constraint constraint;
  constraint.class_name = "UnitNorm";
  constraint.axis = std::move(axis);
  return constraint;
}

std::vector<float> Constrained(const Constraint& constraint, const Shape& shape,
                               std::vector<float> values) {
  Constrain(constraint, shape, absl::MakeSpan(values));
  return values;
}

TEST(ConstrainTest, NegativeElementsBecomeZero) {
  EXPECT_THAT(Constrained(NonNeg(), {3}, {-1, 0, 2}), ElementsAre(0, 0, 2));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Constrained(NonNeg(), {1}, {nan})[0]));
}

TEST(ConstrainTest, NormsComeWithinBounds) {
  // The columns have the norms 5, 1 and 0.
  const std::vector<float> values = {3, 0, 0, 4, 1, 0};
  EXPECT_THAT(Constrained(MinMaxNorm(0, 2, 1, {0}), {2, 3}, values),
              Pointwise(FloatNear(1e-6), {1.2F, 0.0F, 0.0F, 1.6F, 1.0F, 0.0F}));
  EXPECT_THAT(Constrained(MinMaxNorm(2, 4, 0.5, {0}), {2, 3}, values),
              Pointwise(FloatNear(1e-6), {2.7F, 0.0F, 0.0F, 3.6F, 1.5F, 0.0F}));
  EXPECT_THAT(Constrained(UnitNorm({0}), {2, 3}, values),
              Pointwise(FloatNear(1e-6), {0.6F, 0.0F, 0.0F, 0.8F, 1.0F, 0.0F}));
}

// All elements are 1, so each becomes 1 / sqrt(the size of its group).
TEST(ConstrainTest, NormsAreOverAnyAxes) {
  const Shape shape = {2, 3, 1, 5};
  const std::vector<float> ones(30, 1);
  const auto root = [&](const AxisList& axis) {
    const std::vector<float> values = Constrained(UnitNorm(axis), shape, ones);
    for (const float each : values) EXPECT_EQ(each, values[0]);
    return values[0];
  };
  EXPECT_FLOAT_EQ(root({0}), 1 / std::sqrt(2.0F));
  EXPECT_FLOAT_EQ(root({-1}), 1 / std::sqrt(5.0F));
  EXPECT_FLOAT_EQ(root({0, 1, 2}), 1 / std::sqrt(6.0F));
  EXPECT_FLOAT_EQ(root({0, 3}), 1 / std::sqrt(10.0F));
  EXPECT_FLOAT_EQ(root({0, 1, 2, 3}), 1 / std::sqrt(30.0F));
}

// The rows along axis 1 of (2, 3, 2) have the norms 1, 2, …
TEST(ConstrainTest, EachGroupHasItsNorm) {
  std::vector<float> values(12);
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) {
      values[6 * i + 2 * (i + k) + k] = static_cast<float>(1 + 2 * i + k);
    }
  }
  const std::vector<float> unit = Constrained(UnitNorm({1}), {2, 3, 2}, values);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(unit[i], values[i] > 0 ? 1 : 0, 1e-6) << i;
  }
}

TEST(ConstrainTest, GroupsHaveTheElementsThatAreInThem) {
  const NormGroups groups = NormGroupsOf(UnitNorm({0, 2, 3}), {2, 3, 4, 5});
  EXPECT_EQ(groups.group_count, 3);
  EXPECT_EQ(groups.group_size, 40);
  std::vector<int> seen(120);
  for (int64_t group = 0; group < groups.group_count; ++group) {
    for (int64_t i = 0; i < groups.group_size; ++i) {
      const int64_t element = groups.ElementOf(group, i);
      EXPECT_EQ(groups.GroupOf(element), group);
      ++seen[element];
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

TEST(ConstrainTest, EndsTheUpdateOfItsVariable) {
  Sgd sgd;
  EXPECT_FALSE(sgd.updates_by_variable());
  sgd.constraints["dense/kernel"] = UnitNorm({0});
  sgd.constraints["dense/bias"] = NonNeg();
  EXPECT_TRUE(sgd.updates_by_variable());
  EXPECT_TRUE(sgd.NeedsWhole({"dense/kernel", {}}));
  EXPECT_FALSE(sgd.NeedsWhole({"dense/bias", {}}));
  const Shape shape = {2};
  const std::vector<float> gradients = {-2, 3};
  const auto updated = [&](const char* name) {
    std::vector<float> values = {1, -1};
    UpdateRange<float> range;
    range.values = absl::MakeSpan(values);
    range.gradients = gradients;
    range.variable = {name, shape};
    sgd.Apply({.iterations = 0, .learning_rate = 1}, range);
    return values;
  };
  EXPECT_THAT(updated("dense/kernel"),
              Pointwise(FloatNear(1e-6), {0.6F, -0.8F}));
  EXPECT_THAT(updated("dense/bias"), ElementsAre(3, 0));
  EXPECT_THAT(updated("other"), ElementsAre(3, -4));
  sgd.without_loss = {"dense/bias"};
  EXPECT_THAT(updated("dense/bias"), ElementsAre(1, -1));
}

// An update by a gradient of 0 would set it to 0.
TEST(WithoutLossTest, FtrlLeavesTheVariable) {
  Ftrl ftrl;
  ftrl.weight_decay = 0.5;
  EXPECT_FALSE(ftrl.updates_by_variable());
  ftrl.without_loss = {"dense/kernel"};
  EXPECT_TRUE(ftrl.updates_by_variable());
  const Shape shape = {1};
  const auto updated = [&](const char* name) {
    std::vector<float> value = {2};
    std::vector<float> squares = {0.1F};
    std::vector<float> linear = {0};
    const std::vector<float> gradient = {0};
    const absl::Span<float> slots[] = {absl::MakeSpan(squares),
                                       absl::MakeSpan(linear)};
    UpdateRange<float> range;
    range.values = absl::MakeSpan(value);
    range.gradients = gradient;
    range.slots = slots;
    range.variable = {name, shape};
    ftrl.Apply({.iterations = 0, .learning_rate = 0.1}, range);
    return value[0];
  };
  EXPECT_EQ(updated("dense/kernel"), 2);
  EXPECT_EQ(updated("other/kernel"), 0);
}

}  // namespace
}  // namespace paceline
