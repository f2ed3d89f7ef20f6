// Steps have loops of their own for some numbers of channels. They do to each
// channel what they do to an image of it alone.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_step/step_testing.h"

namespace paceline {
namespace {

constexpr int64_t kHeight = 6;
constexpr int64_t kWidth = 11;

std::vector<float> Apply(const std::string& yaml, int64_t channels,
                         const std::vector<float>& image, int64_t index) {
  const auto step = BuiltStep(yaml, {kHeight, kWidth, channels});
  std::vector<float> out(image.size());
  StepRandom random({/*seed=*/3, /*pass=*/0, index}, 0);
  EXPECT_TRUE(step->Apply(image.data(), out.data(), random).ok());
  return out;
}

std::vector<float> ChannelOf(const std::vector<float>& image, int64_t channels,
                             int64_t channel) {
  std::vector<float> values;
  for (size_t i = channel; i < image.size(); i += channels) {
    values.push_back(image[i]);
  }
  return values;
}

class ChannelsTest : public testing::TestWithParam<std::string> {};

TEST_P(ChannelsTest, AreChangedAsIfTheyWereAlone) {
  for (const int64_t channels : {1, 2, 3, 4, 5}) {
    // Nothing is behind it, which the sanitizer sees.
    const std::vector<float> image = TestImage({kHeight, kWidth, channels});
    for (int64_t index = 0; index < 8; ++index) {
      const std::vector<float> all = Apply(GetParam(), channels, image, index);
      for (int64_t c = 0; c < channels; ++c) {
        const std::vector<float> one =
            Apply(GetParam(), 1, ChannelOf(image, channels, c), index);
        const std::vector<float> found = ChannelOf(all, channels, c);
        for (size_t i = 0; i < one.size(); ++i) {
          ASSERT_NEAR(found[i], one[i], 1e-4)
              << channels << " channels, example " << index << ", " << i;
        }
      }
    }
  }
}

std::vector<std::string> Steps() {
  std::vector<std::string> steps = {
      "RandomContrast: {factor: 0.9}",
      "RandomContrast: {factor: 0.9, value_range: [50, 200]}",
      "RandomFlip: {mode: horizontal}",
      "RandomFlip: {mode: vertical}",
      "RandomFlip: {mode: horizontal_and_vertical}",
      "RandomRotation: {factor: 0.3}"};
  for (const char* mode : {"reflect", "wrap", "constant", "nearest"}) {
    for (const char* interpolation : {"bilinear", "nearest"}) {
      for (const char* step :
           {"RandomZoom: {height_factor: [-0.7, 0.9], width_factor: [-0.7, "
            "0.9]",
            "RandomTranslation: {height_factor: 0.8, width_factor: 0.8"}) {
        steps.push_back(absl::StrCat(step, ", fill_value: 7, fill_mode: ", mode,
                                     ", interpolation: ", interpolation, "}"));
      }
    }
  }
  return steps;
}

INSTANTIATE_TEST_SUITE_P(Steps, ChannelsTest, testing::ValuesIn(Steps()));

}  // namespace
}  // namespace paceline
