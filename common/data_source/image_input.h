// Which of a model's inputs are drawn as images.
#ifndef PACELINE_COMMON_DATA_SOURCE_IMAGE_INPUT_H_
#define PACELINE_COMMON_DATA_SOURCE_IMAGE_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_source/model_arrays.h"
#include "common/tensor/shape.h"

namespace paceline {

// Pixels around a drawn image, for which its size leaves room.
inline constexpr int64_t kImageFrame = 2;

// Whether (height, width), with 1 or 3 channels behind or without, and with its
// frame within the limits of PNG and of kMaxImagePixels.
bool IsDrawn(const Shape& shape);

// The index of the first input that is drawn. InvalidArgument, with all inputs,
// if none is: "the model's inputs are …".
absl::StatusOr<size_t> ImageInput(const std::vector<ModelArray>& inputs);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IMAGE_INPUT_H_
