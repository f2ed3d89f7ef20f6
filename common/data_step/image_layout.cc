#include "common/data_step/image_layout.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace paceline {

absl::StatusOr<ImageLayout> ImageLayoutOf(const Shape& shape) {
  const bool has_empty_axis = std::count(shape.begin(), shape.end(), 0) > 0;
  if (has_empty_axis || shape.size() < 2 || shape.size() > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected images of shape (height, width, channels) or "
                     "(height, width), got shape ",
                     ShapeToString(shape)));
  }
  return ImageLayout{shape[0], shape[1], shape.size() == 3 ? shape[2] : 1};
}

Shape WithImageSize(Shape shape, int64_t height, int64_t width) {
  shape[0] = height;
  shape[1] = width;
  return shape;
}

}  // namespace paceline
