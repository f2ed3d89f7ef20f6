// Decodes JPEG images as tf.io.decode_jpeg does with its defaults.
#ifndef PACELINE_COMMON_IMAGE_JPEG_DECODER_H_
#define PACELINE_COMMON_IMAGE_JPEG_DECODER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/image/pixel_buffer.h"

namespace paceline {

struct JpegState;

// By libjpeg-turbo, with its fast inverse DCT and smooth upsampling. An EXIF
// orientation is not applied; CMYK becomes RGB by Adobe's convention. Not
// thread-safe.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();

  // See ImageDecoder::Decode. Arithmetic coding is refused, and codes that no
  // encoder writes, where TensorFlow would make up pixels. Bytes between
  // markers are skipped, as some cameras write them.
  absl::Status Decode(absl::string_view bytes, int channels,
                      PixelBuffer& pixels);

 private:
  std::unique_ptr<JpegState> state_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_JPEG_DECODER_H_
