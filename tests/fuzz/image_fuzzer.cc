// An image, decoded to channels that the first byte says, and resized. One of
// JPEG has the pixels, or the damage, that libjpeg finds in it.
#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "common/image/image_decoder.h"
#include "common/image/resize.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/stock_jpeg.h"

namespace paceline {
namespace {

// libjpeg's own decoder of Huffman codes beside ours.
void CheckJpeg(absl::string_view bytes, int channels,
               const absl::StatusOr<const PixelBuffer*>& image) {
  if (ImageFormatOf(bytes) != ImageFormat::kJpeg || channels == 4) return;
  // What is refused by its header. libjpeg makes no RGB of CMYK.
  if (image.status().code() == absl::StatusCode::kInvalidArgument) return;
  if (!image.ok() && !absl::StrContains(image.status().message(), "at byte")) {
    return;
  }
  std::vector<uint8_t> pixels;
  // It passes over some codes that do not exist.
  if (absl::StrContains(image.status().message(), "bad Huffman code")) return;
  if (!DecodeByLibjpeg(bytes, channels, pixels)) return;
  CHECK(image.ok()) << image.status();
  CHECK(std::equal(pixels.begin(), pixels.end(), (*image)->pixels()));
}

}  // namespace

void Fuzz(FuzzInput input) {
  const int kChannels[] = {1, 3, 4};
  const int channels = kChannels[input.Below(3)];
  ImageDecoder decoder(channels);
  const auto image = decoder.Decode(input.rest());
  CheckJpeg(input.rest(), channels, image);
  if (!image.ok()) return;
  const ImageSize size = (*image)->size();
  CHECK(size.height > 0 && size.width > 0 &&
        size.height <= kMaxImagePixels / size.width);
  std::vector<float> pixels(9 * 7 * channels);
  Resizer({size}, {9, 7}, channels, Interpolation::kBilinear)
      .Resize((*image)->pixels(), pixels.data());
  for (const float pixel : pixels) CHECK(pixel >= -0.1 && pixel < 255.1);
}

}  // namespace paceline
