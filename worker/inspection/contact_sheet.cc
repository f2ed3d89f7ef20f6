#include "worker/inspection/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/base/status_macros.h"
#include "common/data_source/image_input.h"
#include "common/image/pixel_buffer.h"
#include "common/image/png_encoder.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"

namespace paceline {
namespace {

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

ContactSheet::ContactSheet(const Shape& shape, int64_t count)
    : channels_(ChannelsOf(shape)),
      image_{shape[0], shape[1]},
      image_values_(NumElements(shape)),
      capacity_(std::clamp<int64_t>(kMaxPixels / ((shape[0] + 2 * kImageFrame) *
                                                  (shape[1] + 2 * kImageFrame)),
                                    1, std::min(count, kMaxImages))) {
  CHECK(IsDrawn(shape));
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
  const int64_t step_y = image_.height + kImageFrame;
  const int64_t step_x = image_.width + kImageFrame;
  PixelBuffer sheet;
  sheet.Resize({rows * step_y + kImageFrame, columns * step_x + kImageFrame},
               channels_);
  for (int64_t y = 0; y < sheet.size().height; ++y) {
    std::memset(sheet.row(y), kGapColor, sheet.row_bytes());
  }
  for (int64_t i = 0; i < size(); ++i) {
    Draw(i, i / columns * step_y + kImageFrame,
         i % columns * step_x + kImageFrame, sheet);
  }
  return paceline::EncodePng(sheet, channels_);
}

absl::StatusOr<std::vector<std::string>> ContactSheet::EncodeImages(
    int64_t max_bytes) const {
  std::vector<std::string> images;
  PixelBuffer pixels;
  pixels.Resize(image_, channels_);
  for (int64_t i = 0; i < size(); ++i) {
    Draw(i, /*top=*/0, /*left=*/0, pixels);
    ASSIGN_OR_RETURN(std::string png, paceline::EncodePng(pixels, channels_));
    max_bytes -= std::ssize(png);
    if (max_bytes < 0) break;
    images.push_back(std::move(png));
  }
  return images;
}

void ContactSheet::Draw(int64_t index, int64_t top, int64_t left,
                        PixelBuffer& pixels) const {
  const int64_t row_values = image_.width * channels_;
  const float* next = values_.data() + index * image_values_;
  for (int64_t y = 0; y < image_.height; ++y, next += row_values) {
    std::transform(next, next + row_values,
                   pixels.row(top + y) + left * channels_,
                   [this](float value) { return ColorOf(value); });
  }
}

}  // namespace paceline
