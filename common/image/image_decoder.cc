#include "common/image/image_decoder.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/image/png_decoder.h"

namespace paceline {

absl::Status CheckImageSize(ImageSize size, int64_t unit_count, int64_t bytes,
                            int64_t units_per_byte) {
  if (size.height > kMaxImagePixels / size.width) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the image has %d x %d pixels; expected at most %d",
                        size.height, size.width, kMaxImagePixels));
  }
  if (unit_count / units_per_byte > bytes) {
    return absl::DataLossError(absl::StrFormat(
        "the image is cut short: %d bytes cannot hold %d x %d pixels", bytes,
        size.height, size.width));
  }
  return absl::OkStatus();
}

ImageFormat ImageFormatOf(absl::string_view bytes) {
  if (absl::StartsWith(bytes, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (absl::StartsWith(bytes, "\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  return ImageFormat::kNone;
}

absl::StatusOr<const PixelBuffer*> ImageDecoder::Decode(
    absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > kMaxImageBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the image has %d bytes; expected at most %d",
                        bytes.size(), kMaxImageBytes));
  }
  if (bytes.empty()) {
    return absl::InvalidArgumentError("is empty, expected a JPEG or PNG image");
  }
  switch (ImageFormatOf(bytes)) {
    case ImageFormat::kJpeg:
      RETURN_IF_ERROR(jpeg_.Decode(bytes, channels_, pixels_));
      return &pixels_;
    case ImageFormat::kPng:
      RETURN_IF_ERROR(DecodePng(bytes, channels_, pixels_));
      return &pixels_;
    case ImageFormat::kNone:
      break;
  }
  return absl::InvalidArgumentError(
      "it is neither a JPEG nor a PNG image, as its first bytes tell");
}

}  // namespace paceline
