#include "common/data_step/example_steps.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_step/step_testing.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Two images of bytes and a class id.
ExampleSpec PairSpec() {
  return {.features = {{"left", "left", ElementType::kUint8, {2, 2}},
                       {"right", "right", ElementType::kUint8, {2, 2, 1}}},
          .labels = {{"", "labels", ElementType::kInt32, {}}}};
}

class PairExample {
 public:
  PairExample() {
    const Elements image = {ElementType::kUint8,
                            reinterpret_cast<const std::byte*>(pixels_), 4};
    const Elements label = {ElementType::kInt32,
                            reinterpret_cast<const std::byte*>(&label_), 1};
    example_ = {.features = {image, image}, .labels = {label}};
  }
  const Example& example() const { return example_; }
  void set_label(int32_t label) { label_ = label; }

 private:
  const uint8_t pixels_[4] = {10, 20, 30, 40};
  int32_t label_ = 2;
  Example example_;
};

StepOptions OptionsOf(const std::vector<std::string>& steps) {
  StepOptions options;
  for (const std::string& step : steps) {
    options.steps.push_back(StepObject(step));
  }
  return options;
}

std::vector<float> Floats(const Elements& values) {
  EXPECT_EQ(values.type, ElementType::kFloat32);
  const auto* data = reinterpret_cast<const float*>(values.data);
  return {data, data + values.count};
}

TEST(ExampleSteps, LeaveExamplesAloneIfThereAreNone) {
  const PairExample pair;
  auto steps = ExampleSteps::Create({}, PairSpec());
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(steps->spec().features[0].type, ElementType::kUint8);
  const auto example = steps->Apply(pair.example(), 0, 0);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_EQ((*example)->features[0].data, pair.example().features[0].data);
}

TEST(ExampleSteps, FollowEachOther) {
  const PairExample pair;
  auto steps =
      ExampleSteps::Create(OptionsOf({"CenterCrop: {height: 2, width: 1}",
                                      "Rescaling: {scale: 0.5, offset: 1}",
                                      "to_categorical: {num_classes: 4}"}),
                           PairSpec());
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_THAT(steps->spec().features[0].shape, ElementsAre(2, 1));
  EXPECT_THAT(steps->spec().features[1].shape, ElementsAre(2, 1, 1));
  EXPECT_THAT(steps->spec().labels[0].shape, ElementsAre(4));
  const auto example = steps->Apply(pair.example(), 0, 0);
  ASSERT_TRUE(example.ok()) << example.status();
  EXPECT_THAT(Floats((*example)->features[0]), ElementsAre(6, 16));
  EXPECT_THAT(Floats((*example)->labels[0]), ElementsAre(0, 0, 1, 0));
}

TEST(ExampleSteps, DrawTheSameForEachArray) {
  const PairExample pair;
  auto steps = ExampleSteps::Create(OptionsOf({"RandomFlip"}), PairSpec());
  ASSERT_TRUE(steps.ok()) << steps.status();
  for (int64_t i = 0; i < 20; ++i) {
    const auto example = steps->Apply(pair.example(), 0, i);
    EXPECT_EQ(Floats((*example)->features[0]), Floats((*example)->features[1]));
  }
}

TEST(ExampleSteps, LeaveRandomStepsOutIfTheyShall) {
  const PairExample pair;
  StepOptions options = OptionsOf(
      {"RandomBrightness: {factor: [0.1, 0.1]}", "Rescaling: {scale: 2}"});
  options.without_random = true;
  auto steps = ExampleSteps::Create(options, PairSpec());
  ASSERT_TRUE(steps.ok()) << steps.status();
  const auto example = steps->Apply(pair.example(), 0, 0);
  EXPECT_THAT(Floats((*example)->features[0]), ElementsAre(20, 40, 60, 80));
}

TEST(ExampleSteps, NameTheStepThatFails) {
  const auto malformed = ExampleSteps::Create(
      OptionsOf({"Rescaling: {scale: 2}", "RandomFlip: {mode: up}"}),
      PairSpec());
  EXPECT_THAT(std::string(malformed.status().message()),
              StartsWith("steps[1].mode"));
  const auto unfit = ExampleSteps::Create(
      OptionsOf({"Rescaling: {scale: 2}", "PreprocessInput: {mode: torch}"}),
      PairSpec());
  EXPECT_THAT(
      std::string(unfit.status().message()),
      StartsWith("steps[1]: PreprocessInput: expected images of 3 chan"));
  PairExample pair;
  pair.set_label(4);
  auto steps = ExampleSteps::Create(
      OptionsOf({"to_categorical: {num_classes: 4}"}), PairSpec());
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(steps->Apply(pair.example(), 0, 0).status(),
            absl::InvalidArgumentError("steps[0]: to_categorical: label is 4, "
                                       "expected a class id from 0 to 3"));
}

TEST(ExampleSteps, RefuseArraysThatTakeTooMuchMemory) {
  ExampleSpec spec = PairSpec();
  spec.labels[0].shape = {1 << 20};
  const auto steps = ExampleSteps::Create(
      OptionsOf({"to_categorical: {num_classes: 1000000}"}), spec);
  EXPECT_EQ(steps.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(steps.status().message()),
              HasSubstr("more than the limit of 268435456"));
}

}  // namespace
}  // namespace paceline
