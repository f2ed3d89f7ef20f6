// What is refused of encoded images, before memory is allocated for it.
#ifndef PACELINE_COMMON_IMAGE_IMAGE_LIMITS_H_
#define PACELINE_COMMON_IMAGE_IMAGE_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/image/image_size.h"

namespace paceline {

// Size of an encoded image.
inline constexpr int64_t kMaxImageBytes = int64_t{256} << 20;
// Pixels of an image: 256 MiB with four channels. libjpeg has up to 512 MiB
// beside that, for the coefficients of an image in several scans. The largest
// image of ImageNet has 61 million pixels.
inline constexpr int64_t kMaxImagePixels = int64_t{1} << 26;
// Scans of a JPEG image, each of which takes a pass over all of its blocks.
// Encoders write 10 or so.
inline constexpr int kMaxJpegScans = 100;
// Pixels that a byte of a JPEG image has at most: a Huffman code of one bit for
// each block of 8 x 8 samples.
inline constexpr int64_t kMaxJpegPixelsPerByte = 512;
// Bytes that deflate makes of one byte at most.
inline constexpr int64_t kMaxPngDeflateRatio = 1032;
// Memory for an ancillary chunk of a PNG image, such as a color profile.
inline constexpr int64_t kMaxPngChunkBytes = int64_t{8} << 20;
// Chunks of text that are kept: to libpng, 1 means none.
inline constexpr int kMaxPngChunks = 1;

// ResourceExhausted if an image has too many pixels. DataLoss if `bytes` bytes
// cannot hold `unit_count` pixels or bytes, since each holds `units_per_byte`
// at most.
absl::Status CheckImageSize(ImageSize size, int64_t unit_count, int64_t bytes,
                            int64_t units_per_byte);

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_IMAGE_LIMITS_H_
