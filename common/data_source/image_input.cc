#include "common/data_source/image_input.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/image/image_limits.h"

namespace paceline {
namespace {

// The largest of libpng.
constexpr int64_t kMaxSide = 1'000'000;

}  // namespace

bool IsDrawn(const Shape& shape) {
  if (shape.size() != 2 && shape.size() != 3) return false;
  const int64_t channels = shape.size() == 3 ? shape[2] : 1;
  if (channels != 1 && channels != 3) return false;
  if (std::min(shape[0], shape[1]) < 1) return false;
  if (std::max(shape[0], shape[1]) + 2 * kImageFrame > kMaxSide) return false;
  return (shape[0] + 2 * kImageFrame) <=
         kMaxImagePixels / (shape[1] + 2 * kImageFrame);
}

absl::StatusOr<size_t> ImageInput(const std::vector<ModelArray>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (IsDrawn(inputs[i].shape)) return i;
  }
  const auto describe = [](std::string* text, const ModelArray& input) {
    absl::StrAppend(text, input.name, " ", ShapeToString(input.shape));
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "the model's inputs are ", absl::StrJoin(inputs, ", ", describe),
      "; expected an image, (height, width) or with 1 or 3 channels behind, "
      "of at most 64 Mi pixels, and 999,996 a side"));
}

}  // namespace paceline
