// The images of a batch side by side, as one picture.
#ifndef PACELINE_WORKER_INSPECTION_CONTACT_SHEET_H_
#define PACELINE_WORKER_INSPECTION_CONTACT_SHEET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/image/image_size.h"
#include "common/image/pixel_buffer.h"
#include "common/tensor/shape.h"

namespace paceline {

class ContactSheet {
 public:
  // Pixels of all images together. One image may have more, up to
  // kMaxImagePixels.
  static constexpr int64_t kMaxPixels = int64_t{1} << 23;
  static constexpr int64_t kMaxImages = 1024;

  // For up to `count` images of `shape`, as far as the limits allow. IsDrawn
  // must be true of the shape.
  ContactSheet(const Shape& shape, int64_t count);

  int64_t capacity() const { return capacity_; }
  int64_t size() const {
    return static_cast<int64_t>(values_.size()) / image_values_;
  }
  // Takes the first images in `values` while there is room.
  void Add(absl::Span<const float> values);

  // The values, of those in all images, that are drawn as black and as white;
  // others lie in between. What is not finite is drawn as black, and grey if
  // all values are the same.
  float black() const { return black_; }
  float white() const { return white_; }

  // The picture, from left to right and from top to bottom. There must be an
  // image.
  absl::StatusOr<std::string> EncodePng() const;
  // Each image as a picture of its own, in the same colours: as many of the
  // first as have at most `max_bytes` bytes together.
  absl::StatusOr<std::vector<std::string>> EncodeImages(
      int64_t max_bytes) const;

 private:
  // Draws an image into `pixels`, with its corner at row `top`, column `left`.
  void Draw(int64_t index, int64_t top, int64_t left,
            PixelBuffer& pixels) const;
  uint8_t ColorOf(float value) const;

  const int channels_;
  const ImageSize image_;
  const int64_t image_values_;
  const int64_t capacity_;
  std::vector<float> values_;
  float black_ = 0;
  float white_ = 0;
  // Whether a value is finite.
  bool has_range_ = false;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_INSPECTION_CONTACT_SHEET_H_
