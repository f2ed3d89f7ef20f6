#include "common/data_step/image_crop.h"

namespace paceline {

void CopyCrop(const ImageCrop& crop, const ImageLayout& image, const float* in,
              float* out) {
  const int64_t row_size = crop.size.width * image.channels;
  const float* row =
      in + crop.top * image.row_size() + crop.left * image.channels;
  for (int64_t y = 0; y < crop.size.height; ++y) {
    out = std::copy_n(row, row_size, out);
    row += image.row_size();
  }
}

CropResizer::CropResizer(const ImageLayout& image, const ImageCrop& crop,
                         const ImageSize& target, Interpolation interpolation)
    : image_(image), crop_(crop) {
  if (crop.size == target) return;
  resizer_ = std::make_unique<Resizer>(
      crop.size, target, static_cast<int>(image.channels), interpolation);
  const bool is_whole = crop.size == ImageSize{image.height, image.width};
  if (is_whole) return;
  part_.resize(crop.size.height * crop.size.width * image.channels);
}

void CropResizer::Apply(const float* in, float* out) {
  if (resizer_ == nullptr) {
    CopyCrop(crop_, image_, in, out);
  } else if (part_.empty()) {
    resizer_->Resize(in, out);
  } else {
    CopyCrop(crop_, image_, in, part_.data());
    resizer_->Resize(part_.data(), out);
  }
}

}  // namespace paceline
