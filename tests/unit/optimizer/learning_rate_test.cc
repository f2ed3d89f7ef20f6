#include "common/optimizer/learning_rate.h"

#include <cmath>
#include <memory>
#include <string>

#include "common/config/path.h"
#include "common/config/value.h"
#include "common/optimizer/sgd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::StartsWith;

// A schedule that no list has.
class Halving : public Schedule {
 public:
  absl::string_view class_name() const override { return "Halving"; }
  double At(int64_t iterations) const override {
    return std::ldexp(4.0, -static_cast<int>(iterations));
  }
};

absl::Status Read(const Value& value, LearningRate& out) {
  return ReadConfig(value, Path("learning_rate"), out);
}

TEST(LearningRateTest, IsTheNumberAtEachStep) {
  LearningRate rate;
  ASSERT_TRUE(Read(0.25, rate).ok());
  EXPECT_EQ(rate.At(0), 0.25);
  EXPECT_EQ(rate.At(1000), 0.25);
  EXPECT_EQ(WriteConfig(rate), Value(0.25));
}

TEST(LearningRateTest, IsWrittenAsFloat32) {
  LearningRate rate;
  ASSERT_TRUE(Read(0.01, rate).ok());
  EXPECT_EQ(rate.At(0), 0.01);
  EXPECT_EQ(WriteConfig(rate), Value(0.009999999776482582));
}

TEST(LearningRateTest, FollowsItsSchedule) {
  Sgd sgd;
  sgd.learning_rate = {.schedule = std::make_shared<const Halving>()};
  EXPECT_EQ(sgd.StepAfter(0).learning_rate, 4);
  EXPECT_EQ(sgd.StepAfter(3).learning_rate, 0.5);
  EXPECT_EQ(sgd.ScalarsOf(sgd.StepAfter(3))[0], 0.5);
}

TEST(LearningRateTest, RefusesWhatIsNoRate) {
  LearningRate rate;
  for (const Value& value :
       {Value("fast"), Value(true), Value(Value::List{})}) {
    const absl::Status status = Read(value, rate);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                StartsWith("learning_rate: expected a finite number or a "
                           "schedule, got "));
  }
  EXPECT_EQ(Read(-1, rate).code(), absl::StatusCode::kInvalidArgument);
  const absl::Status unknown =
      Read(Value::Map{{"Halving", Value::Map{}}}, rate);
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.message()),
              StartsWith("learning_rate: unknown schedule \"Halving\""));
}

}  // namespace
}  // namespace paceline
