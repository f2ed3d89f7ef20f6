// An image, decoded to channels that the first byte says, and resized.
#include <glog/logging.h>

#include <cmath>
#include <vector>

#include "common/image/image_decoder.h"
#include "common/image/resize.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const int kChannels[] = {1, 3, 4};
  const int channels = kChannels[input.Below(3)];
  ImageDecoder decoder(channels);
  const auto image = decoder.Decode(input.rest());
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
