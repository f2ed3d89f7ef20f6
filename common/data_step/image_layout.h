// The sizes of an image in an array.
#ifndef PACELINE_COMMON_DATA_STEP_IMAGE_LAYOUT_H_
#define PACELINE_COMMON_DATA_STEP_IMAGE_LAYOUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/tensor/shape.h"

namespace paceline {

struct ImageLayout {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t pixels() const { return height * width; }
  // Numbers in the image.
  int64_t size() const { return pixels() * channels; }
  // Numbers in a row.
  int64_t row_size() const { return width * channels; }
};

// (height, width, channels), or (height, width) with one channel.
// InvalidArgument for another shape.
absl::StatusOr<ImageLayout> ImageLayoutOf(const Shape& shape);

// The shape of an image of another size that is laid out like `shape`.
Shape WithImageSize(Shape shape, int64_t height, int64_t width);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_IMAGE_LAYOUT_H_
