// The kernels of constraints against the constraints of the CPU.
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/optimizer/constrain.h"
#include "common/tensor/shape.h"
#include "gtest/gtest.h"
#include "worker/device/cuda/kernels/constrain.h"

namespace paceline::cuda {
namespace {

constexpr int64_t kCount = 2 * 3 * 4;

std::vector<float> SomeValues() {
  std::vector<float> values;
  for (int64_t i = 0; i < kCount; ++i) {
    values.push_back(static_cast<float>((i * 7) % 11) - 5);
  }
  return values;
}

TEST(ConstrainKernelTest, GivesTheNormsOfTheCpu) {
  const Shape shape = {2, 3, 4};
  for (const AxisList& axis : {AxisList{0}, AxisList{1}, AxisList{0, 2}}) {
    Constraint constraint;
    constraint.class_name = "MaxNorm";
    constraint.max_value = 2;
    constraint.axis = axis;
    std::vector<float> expected = SomeValues();
    Constrain(constraint, shape, absl::MakeSpan(expected));
    std::vector<float> actual = SomeValues();
    const ConstrainNorms kernel = {NormGroupsOf(constraint, shape),
                                   NormBoundsOf(constraint), actual.data(),
                                   /*loss_scale=*/nullptr};
    for (int64_t i = 0; i < kernel.groups.group_count; ++i) kernel(i);
    for (int64_t i = 0; i < kCount; ++i) {
      EXPECT_FLOAT_EQ(actual[i], expected[i]) << i;
    }
  }
}

TEST(ConstrainKernelTest, GivesTheNonNegativeElementsOfTheCpu) {
  Constraint constraint;
  constraint.class_name = "NonNeg";
  std::vector<float> expected = SomeValues();
  Constrain(constraint, {kCount}, absl::MakeSpan(expected));
  std::vector<float> actual = SomeValues();
  const ConstrainToNonNegative kernel = {actual.data(), nullptr};
  for (int64_t i = 0; i < kCount; ++i) kernel(i);
  EXPECT_EQ(actual, expected);
}

TEST(ConstrainKernelTest, ChangesNothingAfterAnOverflow) {
  LossScale scale;
  scale.has_overflow = 1;
  std::vector<float> values = SomeValues();
  const ConstrainToNonNegative kernel = {values.data(), &scale};
  for (int64_t i = 0; i < kCount; ++i) kernel(i);
  EXPECT_EQ(values, SomeValues());
}

}  // namespace
}  // namespace paceline::cuda
