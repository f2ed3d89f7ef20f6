// Encodes images as PNG.
#ifndef PACELINE_COMMON_IMAGE_PNG_ENCODER_H_
#define PACELINE_COMMON_IMAGE_PNG_ENCODER_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/image/pixel_buffer.h"

namespace paceline {

// `channels`: of the pixels, 1 for gray, 3 for RGB or 4 with alpha.
// InvalidArgument if PNG cannot hold the image, such as one without pixels.
absl::StatusOr<std::string> EncodePng(const PixelBuffer& pixels, int channels);

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_PNG_ENCODER_H_
