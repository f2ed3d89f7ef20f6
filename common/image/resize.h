// Resizes images as tf.image.resize does.
#ifndef PACELINE_COMMON_IMAGE_RESIZE_H_
#define PACELINE_COMMON_IMAGE_RESIZE_H_

#include <cstdint>
#include <vector>

#include "common/image/axis_weights.h"
#include "common/image/image_size.h"
#include "common/image/interpolation.h"
#include "common/image/resize_kernels.h"

namespace paceline {

// Resizes HWC float32 or uint8 pixels to float32. Not thread-safe.
//
// Each output row is first blended from input rows, then along its columns, so
// that both loops are over consecutive elements of the output.
class Resizer {
 public:
  // Sizes and `channels` are positive; a row has less than 2^31 elements.
  Resizer(ImageSize from, ImageSize to, int channels,
          Interpolation interpolation);

  // Changes the size of the images that follow. Allocates only if an image is
  // larger than those before.
  void SetFrom(ImageSize from);

  // Resizes one image, [height, width, channels] in C order. Results are not
  // rounded, and may exceed the input's range for methods with negative
  // weights. `out` does not overlap `in`.
  void Resize(const uint8_t* in, float* out);
  void Resize(const float* in, float* out);

  // The same for a part of a larger image, whose rows begin `row_stride`
  // elements apart.
  void Resize(const uint8_t* in, int64_t row_stride, float* out);

 private:
  template <typename T>
  void ResizeRows(const T* in, int64_t row_stride, float* out);
  void ComputeColumns();

  ImageSize from_;
  const ImageSize to_;
  const int64_t channels_;
  const Interpolation interpolation_;
  AxisWeights rows_;
  AxisWeights columns_;
  // For each element of an output row, its first element in the input row, and
  // the weights: [taps, elements].
  std::vector<int32_t> offsets_;
  std::vector<float> weights_;
  // The same for RGB pixels that are sums of two; otherwise empty.
  std::vector<PixelBlend> blends_;
  // An output row before its columns are resized, and one element more.
  std::vector<float> row_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_RESIZE_H_
