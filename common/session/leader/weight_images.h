// Variables as images, as keras.callbacks.TensorBoard draws them.
#ifndef PACELINE_COMMON_SESSION_LEADER_WEIGHT_IMAGES_H_
#define PACELINE_COMMON_SESSION_LEADER_WEIGHT_IMAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/image/image_size.h"
#include "common/tensor/shape.h"

namespace paceline {

// tf.summary.image writes no more of each series.
inline constexpr int64_t kMaxWeightImages = 3;

// How the elements of a variable are pixels. Element
//
//   i * image_stride + y * row_stride + x * column_stride + c
//
// is channel c of the pixel (x, y) of image i.
struct WeightImageLayout {
  int64_t count = 1;
  ImageSize size;
  int channels = 1;
  int64_t image_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Without the axes of size 1, a vector is a column, a matrix is one image with
// its longer axis from left to right, and [height, width, images] is an image
// for each of the last axis, the first kMaxWeightImages of them.
// So are four axes [images, height, width, channels] of three or four channels.
// nullopt: Keras has no image of such a variable, or it has no elements.
std::optional<WeightImageLayout> LayOutWeightImages(const Shape& shape);

// The images as PNG. `values` are all elements of the variable, of which 0 is
// black and 1 is white. InvalidArgument if PNG cannot hold them. Takes time in
// proportion to the pixels.
absl::StatusOr<std::vector<std::string>> EncodeWeightImages(
    const WeightImageLayout& layout, absl::Span<const float> values);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_WEIGHT_IMAGES_H_
