// What random steps draw, and which of them are refused.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_step/step_testing.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

const Shape kShape = {4, 6, 1};
constexpr int kExamples = 4000;

std::vector<float> Draw(DataStep& step, const ExamplePass& example,
                        size_t size = 24, size_t place = 0) {
  const std::vector<float> image = TestImage(kShape);
  std::vector<float> output(size);
  StepRandom random(example, place);
  EXPECT_TRUE(step.Apply(image.data(), output.data(), random).ok());
  return output;
}

TEST(RandomSteps, FlipHalfOfTheImages) {
  const auto step = BuiltStep("RandomFlip: {mode: horizontal}", kShape);
  const std::vector<float> image = TestImage(kShape);
  int flipped = 0;
  for (int64_t i = 0; i < kExamples; ++i) {
    const std::vector<float> output = Draw(*step, {1, 0, i});
    flipped += output != image ? 1 : 0;
    EXPECT_EQ(output[output == image ? 0 : 5], image[0]);
  }
  EXPECT_NEAR(flipped, kExamples / 2, 150);
}

TEST(RandomSteps, CropEverywhereAlike) {
  const auto step = BuiltStep("RandomCrop: {height: 3, width: 4}", kShape);
  const std::vector<float> image = TestImage(kShape);
  std::vector<int> counts(kShape[0] * kShape[1]);
  for (int64_t i = 0; i < kExamples; ++i) {
    const std::vector<float> output = Draw(*step, {1, 0, i}, 12);
    const auto corner = std::find(image.begin(), image.end(), output[0]);
    ASSERT_NE(corner, image.end());
    EXPECT_EQ(output[5], corner[7]) << "the second row begins below";
    ++counts[corner - image.begin()];
  }
  for (int top = 0; top < 4; ++top) {
    for (int left = 0; left < 6; ++left) {
      const bool is_corner = top < 2 && left < 3;
      EXPECT_NEAR(counts[top * 6 + left], is_corner ? kExamples / 6 : 0,
                  is_corner ? 120 : 0);
    }
  }
}

// Brightness shows what is drawn.
double AddedBy(DataStep& step, int64_t example) {
  return Draw(step, {1, 0, example})[0] - TestImage(kShape)[0];
}

TEST(RandomSteps, DrawWithinTheirRange) {
  const auto step = BuiltStep(
      "RandomBrightness: {factor: [0.4, -0.2], value_range: [-1000, 1000]}",
      kShape);
  double sum = 0;
  double squares = 0;
  for (int64_t i = 0; i < kExamples; ++i) {
    const double added = AddedBy(*step, i) / 2000;
    EXPECT_GE(added, -0.2001);
    EXPECT_LE(added, 0.4001);
    sum += added;
    squares += added * added;
  }
  const double mean = sum / kExamples;
  EXPECT_NEAR(mean, 0.1, 0.01);
  EXPECT_NEAR(squares / kExamples - mean * mean, 0.36 / 12, 0.002);
}

// As in Keras, a number only adds to the contrast.
TEST(RandomSteps, ContrastOfANumberIsOneOrMore) {
  const auto step = BuiltStep(
      "RandomContrast: {factor: 0.5, value_range: [-1000, 1000]}", kShape);
  const std::vector<float> image = TestImage(kShape);
  for (int64_t i = 0; i < kExamples; ++i) {
    const std::vector<float> output = Draw(*step, {1, 0, i});
    const float contrast = (output[1] - output[0]) / (image[1] - image[0]);
    EXPECT_GE(contrast, 0.9999);
    EXPECT_LE(contrast, 1.5001);
  }
}

TEST(RandomSteps, DependOnSeedPassExampleAndPlaceAlone) {
  const auto step = BuiltStep("RandomRotation: {factor: 0.5}", kShape);
  const auto other = BuiltStep("RandomRotation: {factor: 0.5}", kShape);
  const std::vector<float> output = Draw(*step, {1, 2, 3});
  std::set<std::vector<float>> outputs = {output};
  outputs.insert(Draw(*step, {2, 2, 3}));
  outputs.insert(Draw(*step, {1, 3, 3}));
  outputs.insert(Draw(*step, {1, 2, 4}));
  outputs.insert(Draw(*step, {1, 2, 3}, 24, /*place=*/1));
  EXPECT_EQ(outputs.size(), 5);
  EXPECT_EQ(Draw(*other, {1, 2, 3}), output);
}

TEST(RandomSteps, WithASeedDoNotDependOnTheJobs) {
  const auto step = BuiltStep("RandomRotation: {factor: 0.5, seed: 7}", kShape);
  const std::vector<float> output = Draw(*step, {1, 2, 3});
  EXPECT_EQ(Draw(*step, {2, 2, 3}), output);
  EXPECT_NE(Draw(*step, {2, 2, 4}), output);
}

void ExpectRefused(const std::string& yaml, const std::string& message) {
  const absl::Status status = TryMakeStep(yaml).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << yaml;
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TEST(DataSteps, RefuseWhatTheyDoNotTake) {
  ExpectRefused("RandomFlop", "did you mean \"RandomFlip\"");
  ExpectRefused("RandomFlip: {mode: up}", "steps[0].mode");
  ExpectRefused("RandomRotation", "steps[0].factor");
  ExpectRefused("RandomRotation: {factor: 2}", "from -1 to 1");
  ExpectRefused("RandomZoom: {height_factor: [0.1, 0.2, 0.3]}",
                "pair of numbers");
  ExpectRefused("RandomZoom: {height_factor: -1}", "above -1");
  ExpectRefused("RandomContrast: {factor: -0.1}", "from 0 to 1");
  ExpectRefused("RandomBrightness: {factor: 0.1, value_range: [1, 0]}",
                "the least first");
  ExpectRefused("CenterCrop: {height: 0, width: 3}", "steps[0].height");
  ExpectRefused("PreprocessInput", "expected `model` or `mode`");
  ExpectRefused("PreprocessInput: {model: alexnet}", "steps[0].model");
  ExpectRefused("to_categorical: {num_classes: 0}", "steps[0].num_classes");
}

TEST(DataSteps, RefuseArraysThatTheyDoNotTake) {
  for (const char* yaml :
       {"RandomFlip", "CenterCrop: {height: 5, width: 5}",
        "PreprocessInput: {mode: caffe}", "RandomContrast: {factor: 0.1}"}) {
    const auto step = TryMakeStep(yaml);
    ASSERT_TRUE(step.ok()) << step.status();
    EXPECT_EQ((*step)->Build({12}).status().code(),
              absl::StatusCode::kInvalidArgument)
        << yaml;
    EXPECT_FALSE((*step)->Build({2, 3, 4, 5}).ok()) << yaml;
  }
  const auto caffe = TryMakeStep("PreprocessInput: {mode: caffe}");
  EXPECT_THAT(std::string((*caffe)->Build({4, 8, 1}).status().message()),
              HasSubstr("3 channels"));
}

// Keys that a config of Keras has.
TEST(DataSteps, ReadWhatKerasWrites) {
  const auto step = TryMakeStep(
      "{module: keras.layers, registered_name: null, class_name: RandomFlip, "
      "config: {name: random_flip, trainable: true, dtype: float32, "
      "data_format: channels_last, seed: null, mode: vertical}}");
  EXPECT_TRUE(step.ok()) << step.status();
}

}  // namespace
}  // namespace paceline
