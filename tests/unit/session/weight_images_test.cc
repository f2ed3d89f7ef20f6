// Variables as images, beside those of Keras and TensorFlow.
#include "common/session/leader/weight_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/image/pixel_buffer.h"
#include "common/image/png_decoder.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// [height, width, channels], as lists.
json PixelsOf(const std::string& png, int channels) {
  PixelBuffer pixels;
  const absl::Status decoded = DecodePng(png, channels, pixels);
  EXPECT_TRUE(decoded.ok()) << decoded;
  json rows = json::array();
  for (int64_t y = 0; y < pixels.size().height; ++y) {
    json row = json::array();
    for (int64_t x = 0; x < pixels.size().width; ++x) {
      json pixel = json::array();
      for (int c = 0; c < channels; ++c) {
        pixel.push_back(pixels.row(y)[x * channels + c]);
      }
      row.push_back(std::move(pixel));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What is drawn of the values, which come in two pieces.
std::vector<float> DrawnOf(const WeightImageLayout& layout,
                           const std::vector<float>& values) {
  const auto all = absl::MakeSpan(values);
  const size_t half = values.size() / 2;
  std::vector<float> drawn;
  AppendDrawn(layout, 0, all.first(half), drawn);
  AppendDrawn(layout, static_cast<int64_t>(half), all.subspan(half), drawn);
  EXPECT_EQ(static_cast<int64_t>(drawn.size()), layout.ElementCount());
  return drawn;
}

TEST(WeightImages, AreThoseOfKeras) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/tensor_board_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json cases = json::parse(*text).at("cases");
  ASSERT_FALSE(cases.empty());
  for (const json& each : cases) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    const json& picture = each.at("picture");
    const auto layout = LayOutWeightImages(each.at("shape").get<Shape>());
    ASSERT_EQ(layout.has_value(), !picture.is_null());
    if (!layout) continue;
    EXPECT_EQ(layout->size.height, picture.at("height").get<int64_t>());
    EXPECT_EQ(layout->size.width, picture.at("width").get<int64_t>());
    const auto images = EncodeWeightImages(
        *layout, DrawnOf(*layout, each.at("values").get<std::vector<float>>()));
    ASSERT_TRUE(images.ok()) << images.status();
    ASSERT_EQ(images->size(), picture.at("images").size());
    for (size_t i = 0; i < images->size(); ++i) {
      EXPECT_EQ(PixelsOf((*images)[i], layout->channels),
                picture.at("images")[i]);
    }
  }
}

TEST(WeightImages, NoNumberIsBlack) {
  const auto layout = LayOutWeightImages({3});
  ASSERT_TRUE(layout);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto images =
      EncodeWeightImages(*layout, {std::nanf(""), -kInfinity, kInfinity});
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(PixelsOf(images->at(0), 1), json::parse("[[[0]], [[0]], [[255]]]"));
}

TEST(WeightImages, ThereIsNoneWithoutElements) {
  EXPECT_FALSE(LayOutWeightImages({0}));
  EXPECT_FALSE(LayOutWeightImages({3, 0, 2}));
}

TEST(WeightImages, OnlyWhatIsDrawnCounts) {
  for (const Shape& shape :
       {Shape{2048, 2048}, Shape{1024, 1024, 5000}, Shape{9, 1024, 256, 4}}) {
    EXPECT_TRUE(CheckWeightImages(*LayOutWeightImages(shape)).ok())
        << ShapeToString(shape);
  }
  for (const Shape& shape :
       {Shape{2049, 2048}, Shape{2048, 1024, 3}, Shape{3, 1024, 512, 3}}) {
    const absl::Status refused = CheckWeightImages(*LayOutWeightImages(shape));
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument)
        << ShapeToString(shape);
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("expected at most 4194304"));
  }
}

// libpng has a limit on the number of rows.
TEST(WeightImages, PngCannotHoldALongVector) {
  const std::vector<float> values(1000001);
  const auto layout = LayOutWeightImages({1000001});
  ASSERT_TRUE(layout);
  EXPECT_EQ(EncodeWeightImages(*layout, values).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace paceline
