// Variables as images, as keras.callbacks.TensorBoard draws them.
#ifndef PACELINE_COMMON_SESSION_LEADER_WEIGHT_IMAGES_H_
#define PACELINE_COMMON_SESSION_LEADER_WEIGHT_IMAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/image/image_size.h"
#include "common/tensor/shape.h"

namespace paceline {

// tf.summary.image writes no more of each series.
inline constexpr int64_t kMaxWeightImages = 3;

// The most elements of a variable that are drawn, three images of RGB together:
// 16 MiB as floats, and 4 MiB as pixels.
inline constexpr int64_t kMaxWeightImageElements = int64_t{1} << 22;

// How the elements of a variable are pixels. Of each `period` elements the
// first `drawn` are drawn. Of these, element
//
//   i * image_stride + y * row_stride + x * column_stride + c
//
// is channel c of the pixel (x, y) of image i.
struct WeightImageLayout {
  // Of those that are drawn.
  int64_t ElementCount() const {
    return count * size.height * size.width * channels;
  }

  int64_t period = 1;
  int64_t drawn = 1;
  int64_t count = 1;
  ImageSize size;
  int channels = 1;
  int64_t image_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Without the axes of size 1, a vector is a column, a matrix is one image with
// its longer axis from left to right, and [height, width, images] is an image
// for each of the last axis. Four axes [images, height, width, channels] of 3
// or 4 channels are that many images. Only the first kMaxWeightImages are
// drawn. nullopt: Keras has no image of such a variable, or it has no elements.
std::optional<WeightImageLayout> LayOutWeightImages(const Shape& shape);

// InvalidArgument if the images have more than kMaxWeightImageElements.
absl::Status CheckWeightImages(const WeightImageLayout& layout);

// Appends what is drawn of `values`, the elements of the variable from `begin`
// on.
void AppendDrawn(const WeightImageLayout& layout, int64_t begin,
                 absl::Span<const float> values, std::vector<float>& drawn);

// The images as PNG. `drawn` are all elements that are drawn, of which 0 is
// black and 1 is white. InvalidArgument if PNG cannot hold them. Takes time in
// proportion to the pixels.
absl::StatusOr<std::vector<std::string>> EncodeWeightImages(
    const WeightImageLayout& layout, absl::Span<const float> drawn);

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_WEIGHT_IMAGES_H_
