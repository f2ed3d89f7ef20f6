#include "common/session/leader/weight_images.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/image/pixel_buffer.h"
#include "common/image/png_encoder.h"

namespace paceline {
namespace {

// As tf.image.convert_image_dtype(…, tf.uint8, saturate=True), but 0 for NaN.
uint8_t ByteOf(float value) {
  const float scaled = value * 255.5f;
  return scaled > 0 ? static_cast<uint8_t>(std::min(scaled, 255.0f)) : 0;
}

}  // namespace

std::optional<WeightImageLayout> LayOutWeightImages(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const int64_t size : shape) {
    if (size == 0) return std::nullopt;
    if (size > 1) sizes.push_back(size);
  }
  WeightImageLayout layout;
  switch (sizes.size()) {
    case 1:
      layout.size = {sizes[0], 1};
      layout.row_stride = 1;
      return layout;
    case 2:
      layout.size = {sizes[0], sizes[1]};
      layout.row_stride = sizes[1];
      layout.column_stride = 1;
      if (sizes[0] > sizes[1]) {
        std::swap(layout.size.height, layout.size.width);
        std::swap(layout.row_stride, layout.column_stride);
      }
      return layout;
    case 3:
      layout.size = {sizes[0], sizes[1]};
      layout.count = std::min(sizes[2], kMaxWeightImages);
      layout.period = sizes[2];
      layout.drawn = layout.count;
      layout.image_stride = 1;
      layout.row_stride = sizes[1] * layout.count;
      layout.column_stride = layout.count;
      return layout;
    case 4:
      if (sizes[3] != 3 && sizes[3] != 4) return std::nullopt;
      layout.size = {sizes[1], sizes[2]};
      layout.count = std::min(sizes[0], kMaxWeightImages);
      layout.channels = static_cast<int>(sizes[3]);
      layout.image_stride = sizes[1] * sizes[2] * sizes[3];
      layout.period = sizes[0] * layout.image_stride;
      layout.drawn = layout.count * layout.image_stride;
      layout.row_stride = sizes[2] * sizes[3];
      layout.column_stride = sizes[3];
      return layout;
    default:
      return std::nullopt;
  }
}

absl::Status CheckWeightImages(const WeightImageLayout& layout) {
  if (layout.ElementCount() <= kMaxWeightImageElements) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      layout.ElementCount(), " elements to draw; expected at most ",
      kMaxWeightImageElements));
}

void AppendDrawn(const WeightImageLayout& layout, int64_t begin,
                 absl::Span<const float> values, std::vector<float>& drawn) {
  int64_t in_period = begin % layout.period;
  for (const float value : values) {
    if (in_period < layout.drawn) drawn.push_back(value);
    if (++in_period == layout.period) in_period = 0;
  }
}

absl::StatusOr<std::vector<std::string>> EncodeWeightImages(
    const WeightImageLayout& layout, absl::Span<const float> drawn) {
  PixelBuffer pixels;
  pixels.Resize(layout.size, layout.channels);
  std::vector<std::string> images;
  for (int64_t i = 0; i < layout.count; ++i) {
    for (int64_t y = 0; y < layout.size.height; ++y) {
      uint8_t* pixel = pixels.row(y);
      for (int64_t x = 0; x < layout.size.width; ++x) {
        const int64_t first = i * layout.image_stride + y * layout.row_stride +
                              x * layout.column_stride;
        for (int c = 0; c < layout.channels; ++c) {
          *pixel++ = ByteOf(drawn[first + c]);
        }
      }
    }
    ASSIGN_OR_RETURN(images.emplace_back(), EncodePng(pixels, layout.channels));
  }
  return images;
}

}  // namespace paceline
