#include "common/image/png_encoder.h"

#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "common/image/png_decoder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

PixelBuffer SomePixels(ImageSize size, int channels) {
  PixelBuffer pixels;
  pixels.Resize(size, channels);
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < pixels.row_bytes(); ++x) {
      pixels.row(y)[x] = static_cast<uint8_t>(y * 97 + x * 31);
    }
  }
  return pixels;
}

TEST(PngEncoderTest, PixelsAreDecodedAgain) {
  for (const int channels : {1, 3, 4}) {
    for (const ImageSize size : {ImageSize{1, 1}, ImageSize{40, 3}}) {
      const PixelBuffer pixels = SomePixels(size, channels);
      const absl::StatusOr<std::string> png = EncodePng(pixels, channels);
      ASSERT_TRUE(png.ok()) << png.status();
      PixelBuffer decoded;
      const absl::Status status = DecodePng(*png, channels, decoded);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(decoded.size(), size);
      EXPECT_EQ(std::memcmp(decoded.pixels(), pixels.pixels(),
                            size.height * pixels.row_bytes()),
                0);
    }
  }
}

TEST(PngEncoderTest, AnImageWithoutPixelsIsRefused) {
  PixelBuffer pixels;
  pixels.Resize({0, 5}, 1);
  const absl::Status status = EncodePng(pixels, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::HasSubstr("0 x 5 pixels"));
}

}  // namespace
}  // namespace paceline
