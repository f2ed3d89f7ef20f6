// Decodes images in files, as tf.io.decode_image does.
#ifndef PACELINE_COMMON_IMAGE_IMAGE_DECODER_H_
#define PACELINE_COMMON_IMAGE_IMAGE_DECODER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/image/image_limits.h"
#include "common/image/image_size.h"
#include "common/image/jpeg_decoder.h"
#include "common/image/pixel_buffer.h"

namespace paceline {

enum class ImageFormat { kNone, kJpeg, kPng };

// By the first bytes, as TensorFlow does it.
ImageFormat ImageFormatOf(absl::string_view bytes);

// Not thread-safe; a thread keeps one for all images.
class ImageDecoder {
 public:
  // `channels`: 1 for gray, 3 for RGB, or 4 for RGBA.
  explicit ImageDecoder(int channels) : channels_(channels) {}

  // The pixels of a JPEG or PNG image, [height, width, channels], valid until
  // the next call. InvalidArgument if it is neither, or cannot have these
  // channels; ResourceExhausted if it exceeds image_limits.h; DataLoss, with
  // the byte where that is seen, if it is cut short or damaged.
  absl::StatusOr<const PixelBuffer*> Decode(absl::string_view bytes);

  int channels() const { return channels_; }

 private:
  const int channels_;
  JpegDecoder jpeg_;
  PixelBuffer pixels_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_IMAGE_DECODER_H_
