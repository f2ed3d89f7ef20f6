#include "common/optimizer/schedule.h"

#include <cmath>
#include <string>

#include "common/config/path.h"
#include "common/optimizer/learning_rate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/optimizer/keras_cases.h"

namespace paceline {
namespace {

using ::testing::StartsWith;

absl::Status ReadRate(const nlohmann::ordered_json& json, LearningRate& out) {
  return ReadConfig(ValueFromJson(json), Path("learning_rate"), out);
}

// Keras computes in float32.
TEST(ScheduleTest, EachStepHasTheRateOfKeras) {
  const nlohmann::ordered_json expected = KerasExpected();
  ASSERT_FALSE(expected["schedules"].empty());
  for (const nlohmann::ordered_json& example : expected["schedules"]) {
    LearningRate rate;
    const absl::Status status = ReadRate(
        {{example["class_name"].get<std::string>(), example["config"]}}, rate);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < example["steps"].size(); ++i) {
      const int64_t step = example["steps"][i];
      const double value = example["values"][i];
      EXPECT_NEAR(rate.At(step), value, 5e-6 * std::abs(value))
          << example["class_name"] << example["config"] << " step " << step;
    }
  }
}

TEST(ScheduleTest, ErrorsNameTheFieldAndWhatIsExpected) {
  LearningRate rate;
  const auto message = [&](const nlohmann::ordered_json& config) {
    return std::string(
        ReadRate({{"ExponentialDecay", config}}, rate).message());
  };
  EXPECT_THAT(message({{"initial_learning_rate", 0.1}, {"decay_rate", 0.5}}),
              StartsWith("learning_rate.decay_steps: missing; expected "));
  EXPECT_EQ(message({{"initial_learning_rate", 0.1},
                     {"decay_steps", 0},
                     {"decay_rate", 0.5}}),
            "learning_rate.decay_steps: must be above 0, got 0");
  EXPECT_EQ(message({{"initial_learning_rate", -1},
                     {"decay_steps", 1},
                     {"decay_rate", 0.5}}),
            "learning_rate.initial_learning_rate: must be at least 0, got -1");
}

}  // namespace
}  // namespace paceline
