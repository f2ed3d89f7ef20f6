// Decodes PNG images as tf.io.decode_png does to uint8.
#ifndef PACELINE_COMMON_IMAGE_PNG_DECODER_H_
#define PACELINE_COMMON_IMAGE_PNG_DECODER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/image/pixel_buffer.h"

namespace paceline {

// See ImageDecoder::Decode. Of 16 bits the upper 8 are taken; alpha is left out
// unless four channels are wanted, and 255 where an image has none. All
// checksums are verified. libpng allocates for each image.
absl::Status DecodePng(absl::string_view bytes, int channels,
                       PixelBuffer& pixels);

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_PNG_DECODER_H_
