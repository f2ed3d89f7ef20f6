#include "common/image/png_encoder.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "common/image/image_limits.h"
#include "glog/logging.h"
#include "png.h"

namespace paceline {

absl::StatusOr<std::string> EncodePng(const PixelBuffer& pixels, int channels) {
  CHECK(channels == 1 || channels == 3 || channels == 4) << channels;
  const auto [height, width] = pixels.size();
  if (height < 1 || width < 1 || height > kMaxImagePixels / width) {
    return absl::InvalidArgumentError(
        absl::StrFormat("an image of %d x %d pixels; expected 1 to %d pixels",
                        height, width, kMaxImagePixels));
  }
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = channels == 1   ? PNG_FORMAT_GRAY
                 : channels == 3 ? PNG_FORMAT_RGB
                                 : PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  const int written =
      png_image_write_to_memory(&image, bytes.data(), &size, /*convert=*/0,
                                pixels.pixels(), /*row_stride=*/0, nullptr);
  if (written == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("libpng cannot encode an image of %d x %d pixels: %s",
                        height, width, image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace paceline
