#include "worker/inspection/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/image/image_limits.h"
#include "common/image/pixel_buffer.h"
#include "common/image/png_encoder.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// The largest of libpng.
constexpr int64_t kMaxSide = 1'000'000;

// Around each image.
constexpr int64_t kGap = 2;
constexpr uint8_t kGapColor = 128;

int ChannelsOf(const Shape& shape) {
  return shape.size() == 3 ? static_cast<int>(shape[2]) : 1;
}

// As many columns as make the sheet about square.
int64_t ColumnsFor(int64_t count, ImageSize image) {
  const double columns =
      std::sqrt(static_cast<double>(count) * static_cast<double>(image.height) /
                static_cast<double>(image.width));
  return std::clamp<int64_t>(std::llround(columns), 1, count);
}

}  // namespace

bool ContactSheet::IsImage(const Shape& shape) {
  if (shape.size() != 2 && shape.size() != 3) return false;
  const int64_t channels = shape.size() == 3 ? shape[2] : 1;
  if (channels != 1 && channels != 3) return false;
  if (std::max(shape[0], shape[1]) + 2 * kGap > kMaxSide) return false;
  // With room for the gap.
  return (shape[0] + 2 * kGap) <= kMaxImagePixels / (shape[1] + 2 * kGap);
}

ContactSheet::ContactSheet(const Shape& shape, int64_t count)
    : channels_(ChannelsOf(shape)),
      image_{shape[0], shape[1]},
      image_values_(NumElements(shape)),
      capacity_(std::clamp<int64_t>(
          kMaxPixels / ((shape[0] + 2 * kGap) * (shape[1] + 2 * kGap)), 1,
          std::min(count, kMaxImages))) {
  CHECK(IsImage(shape));
  CHECK_GE(count, 1);
}

void ContactSheet::Add(absl::Span<const float> values) {
  const int64_t room = (capacity_ - size()) * image_values_;
  values = values.subspan(0, room);
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    black_ = has_range_ ? std::min(black_, value) : value;
    white_ = has_range_ ? std::max(white_, value) : value;
    has_range_ = true;
  }
  values_.insert(values_.end(), values.begin(), values.end());
}

uint8_t ContactSheet::ColorOf(float value) const {
  if (!std::isfinite(value)) return 0;
  if (white_ <= black_) return kGapColor;
  // As doubles, whose difference is finite.
  const double share = (static_cast<double>(value) - black_) /
                       (static_cast<double>(white_) - black_);
  return static_cast<uint8_t>(std::lround(share * 255));
}

absl::StatusOr<std::string> ContactSheet::EncodePng() const {
  CHECK_GE(size(), 1);
  const int64_t columns = ColumnsFor(size(), image_);
  const int64_t rows = (size() + columns - 1) / columns;
  const int64_t step_y = image_.height + kGap;
  const int64_t step_x = image_.width + kGap;
  PixelBuffer sheet;
  sheet.Resize({rows * step_y + kGap, columns * step_x + kGap}, channels_);
  for (int64_t y = 0; y < sheet.size().height; ++y) {
    std::memset(sheet.row(y), kGapColor, sheet.row_bytes());
  }
  const int64_t row_values = image_.width * channels_;
  const float* next = values_.data();
  for (int64_t i = 0; i < size(); ++i) {
    const int64_t top = i / columns * step_y + kGap;
    const int64_t left = (i % columns * step_x + kGap) * channels_;
    for (int64_t y = 0; y < image_.height; ++y, next += row_values) {
      std::transform(next, next + row_values, sheet.row(top + y) + left,
                     [this](float value) { return ColorOf(value); });
    }
  }
  return paceline::EncodePng(sheet, channels_);
}

}  // namespace paceline
