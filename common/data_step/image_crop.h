// Parts of images, as they are or resized.
#ifndef PACELINE_COMMON_DATA_STEP_IMAGE_CROP_H_
#define PACELINE_COMMON_DATA_STEP_IMAGE_CROP_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/data_step/image_layout.h"
#include "common/image/image_size.h"
#include "common/image/interpolation.h"
#include "common/image/resize.h"

namespace paceline {

struct ImageCrop {
  int64_t top = 0;
  int64_t left = 0;
  ImageSize size;
};

// The largest part in the middle of an image with the aspect ratio of `target`.
// Keras computes its size with numbers of type T: float in a graph, double in
// Python.
template <typename T>
ImageCrop CropToAspect(const ImageLayout& image, const ImageSize& target) {
  const auto side = [](int64_t most, int64_t other, int64_t a, int64_t b) {
    const auto fitting =
        static_cast<int64_t>(static_cast<T>(other * a) / static_cast<T>(b));
    return std::max<int64_t>(std::min(most, fitting), 1);
  };
  const int64_t height =
      side(image.height, image.width, target.height, target.width);
  const int64_t width =
      side(image.width, image.height, target.width, target.height);
  return {
      (image.height - height) / 2, (image.width - width) / 2, {height, width}};
}

// Copies a part of an image.
void CopyCrop(const ImageCrop& crop, const ImageLayout& image, const float* in,
              float* out);

// Makes images of one size from parts of images. Not thread-safe. Only the
// constructor allocates.
class CropResizer {
 public:
  CropResizer() = default;
  CropResizer(const ImageLayout& image, const ImageCrop& crop,
              const ImageSize& target, Interpolation interpolation);

  void Apply(const float* in, float* out);

 private:
  ImageLayout image_;
  ImageCrop crop_;
  // Null: the part has the size already.
  std::unique_ptr<Resizer> resizer_;
  std::vector<float> part_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_IMAGE_CROP_H_
