#include "common/image/resize.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;

// The images of tests/interop/image_expected.py.
std::vector<uint8_t> TestImage(ImageSize size, int channels) {
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      for (int64_t c = 0; c < channels; ++c) {
        pixels.push_back(
            static_cast<uint8_t>(y * 37 + x * 101 + c * 53 + y * x * 7));
      }
    }
  }
  return pixels;
}

Interpolation MethodOf(const std::string& name) {
  for (const auto& each : EnumNames(Interpolation{})) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << name;
  return Interpolation::kBilinear;
}

TEST(ResizeTest, GivesTheValuesOfTensorFlow) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/image_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json expected_values = json::parse(*text);
  std::map<std::string, int> cases;
  for (const json& each : expected_values["resizes"]) {
    const std::string method = each["method"];
    SCOPED_TRACE(method + each["from"].dump() + each["to"].dump());
    ++cases[method];
    const ImageSize from = {each["from"][0], each["from"][1]};
    const ImageSize to = {each["to"][0], each["to"][1]};
    const int channels = each["from"][2];
    const std::vector<uint8_t> in = TestImage(from, channels);
    const std::vector<float> floats(in.begin(), in.end());
    const std::vector<float> expected = each["pixels"];
    std::vector<float> out(expected.size());
    Resizer resizer(from, to, channels, MethodOf(method));
    resizer.Resize(in.data(), out.data());
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_NEAR(out[i], expected[i], 0.01) << i;
    }
    resizer.Resize(floats.data(), out.data());
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_NEAR(out[i], expected[i], 0.01) << i;
    }
  }
  EXPECT_EQ(cases.size(), EnumNames(Interpolation{}).size());
}

TEST(ResizeTest, KeepsPixelsOfTheSameSize) {
  const ImageSize size = {9, 11};
  const std::vector<uint8_t> in = TestImage(size, 3);
  for (const Interpolation method :
       {Interpolation::kBilinear, Interpolation::kNearest,
        Interpolation::kBicubic, Interpolation::kArea}) {
    std::vector<float> out(in.size());
    Resizer(size, size, 3, method).Resize(in.data(), out.data());
    EXPECT_EQ(out, std::vector<float>(in.begin(), in.end()));
  }
}

TEST(ResizeTest, TakesImagesOfOtherSizes) {
  const ImageSize to = {4, 5};
  Resizer resizer({30, 20}, to, 3, Interpolation::kBilinear);
  for (const ImageSize from : {ImageSize{7, 9}, {7, 20}, {40, 3}, {1, 1}}) {
    const std::vector<uint8_t> in = TestImage(from, 3);
    std::vector<float> out(60);
    std::vector<float> expected(60);
    resizer.SetFrom(from);
    resizer.Resize(in.data(), out.data());
    Resizer(from, to, 3, Interpolation::kBilinear)
        .Resize(in.data(), expected.data());
    EXPECT_EQ(out, expected);
  }
}

TEST(ResizeTest, ResizesAPartOfAnImage) {
  // Rows of 4 elements, of which the middle two are resized.
  const std::vector<uint8_t> in = {9, 10, 20, 9,  //
                                   9, 30, 40, 9};
  std::vector<float> out(2);
  Resizer({2, 2}, {1, 2}, 1, Interpolation::kBilinear)
      .Resize(in.data() + 1, 4, out.data());
  EXPECT_THAT(out, ElementsAre(20, 30));
}

TEST(ResizeTest, LargeImagesStayWithinTheirRange) {
  const ImageSize from = {1000, 1501};
  const std::vector<uint8_t> in(from.height * from.width * 3, 255);
  for (const auto& each : EnumNames(Interpolation{})) {
    std::vector<float> out(224 * 224 * 3);
    Resizer(from, {224, 224}, 3, each.value).Resize(in.data(), out.data());
    EXPECT_THAT(out, Each(FloatNear(255, 0.01))) << each.name;
  }
}

// Pixels of three channels have loops of their own. The image has nothing
// behind it, which the sanitizer sees.
TEST(ResizeTest, EachChannelIsResizedAsIfItWereAlone) {
  const ImageSize from = {7, 11};
  for (const ImageSize to :
       {ImageSize{5, 4}, ImageSize{9, 1}, ImageSize{7, 11}, ImageSize{3, 30}}) {
    for (const auto& method : EnumNames(Interpolation{})) {
      const std::vector<uint8_t> image = TestImage(from, 3);
      std::vector<float> all(to.height * to.width * 3);
      Resizer(from, to, 3, method.value).Resize(image.data(), all.data());
      for (int c = 0; c < 3; ++c) {
        std::vector<uint8_t> channel;
        for (size_t i = c; i < image.size(); i += 3)
          channel.push_back(image[i]);
        std::vector<float> one(to.height * to.width);
        Resizer(from, to, 1, method.value).Resize(channel.data(), one.data());
        for (size_t i = 0; i < one.size(); ++i) {
          EXPECT_FLOAT_EQ(all[3 * i + c], one[i]) << method.name << ", " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace paceline
