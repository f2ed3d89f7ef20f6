// Memory for the pixels of one image after another.
#ifndef PACELINE_COMMON_IMAGE_PIXEL_BUFFER_H_
#define PACELINE_COMMON_IMAGE_PIXEL_BUFFER_H_

#include <cstdint>
#include <memory>

#include "common/image/image_size.h"

namespace paceline {

// Pixels are [height, width, channels] in C order.
class PixelBuffer {
 public:
  // Makes room for an image, whose pixels have any values then. Allocates only
  // if it is larger than those before.
  void Resize(ImageSize size, int channels) {
    const int64_t bytes = size.height * size.width * channels;
    if (bytes > capacity_bytes_) {
      pixels_.reset(new uint8_t[bytes]);
      capacity_bytes_ = bytes;
    }
    size_ = size;
    row_bytes_ = size.width * channels;
  }

  ImageSize size() const { return size_; }
  int64_t row_bytes() const { return row_bytes_; }
  uint8_t* row(int64_t y) { return pixels_.get() + y * row_bytes_; }
  const uint8_t* pixels() const { return pixels_.get(); }

 private:
  ImageSize size_;
  int64_t row_bytes_ = 0;
  int64_t capacity_bytes_ = 0;
  std::unique_ptr<uint8_t[]> pixels_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_PIXEL_BUFFER_H_
