#include "common/image/image_loader.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace paceline {
namespace {

// The largest part of an image with the ratio of `to`. Keras computes it in
// float32.
ImageSize CroppedTo(ImageSize to, ImageSize image) {
  const auto scaled = [](int64_t side, int64_t by, int64_t of) {
    return static_cast<int64_t>(static_cast<float>(side * by) /
                                static_cast<float>(of));
  };
  const auto within = [](int64_t size, int64_t limit) {
    return std::clamp<int64_t>(size, 1, limit);
  };
  return {within(scaled(image.width, to.height, to.width), image.height),
          within(scaled(image.height, to.width, to.height), image.width)};
}

}  // namespace

absl::Status ImageLoader::Load(absl::string_view bytes, float* out) {
  ASSIGN_OR_RETURN(const PixelBuffer* const image, decoder_.Decode(bytes));
  const ImageSize size = image->size();
  const ImageSize part =
      form_.crop_to_aspect_ratio ? CroppedTo(form_.size, size) : size;
  if (resizer_) {
    resizer_->SetFrom(part);
  } else {
    resizer_.emplace(part, form_.size, form_.channels, form_.interpolation);
  }
  const int64_t top = (size.height - part.height) / 2;
  const int64_t left = (size.width - part.width) / 2;
  resizer_->Resize(
      image->pixels() + top * image->row_bytes() + left * form_.channels,
      image->row_bytes(), out);
  return absl::OkStatus();
}

}  // namespace paceline
