#include "common/image/resize.h"

#include <limits>

#include "common/image/resize_kernels.h"
#include "glog/logging.h"

namespace paceline {

Resizer::Resizer(ImageSize from, ImageSize to, int channels,
                 Interpolation interpolation)
    : to_(to), channels_(channels), interpolation_(interpolation) {
  CHECK(to.height > 0 && to.width > 0 && channels > 0);
  offsets_.resize(to.width * channels);
  SetFrom(from);
}

void Resizer::SetFrom(ImageSize from) {
  if (from == from_) return;
  CHECK(from.height > 0 && from.width > 0 &&
        from.width <= std::numeric_limits<int32_t>::max() / channels_);
  if (from.height != from_.height) {
    rows_.Compute(interpolation_, from.height, to_.height);
  }
  if (from.width != from_.width) {
    columns_.Compute(interpolation_, from.width, to_.width);
    ComputeColumns();
    row_.resize(from.width * channels_ + 1);
  }
  from_ = from;
}

void Resizer::ComputeColumns() {
  blends_.clear();
  if (channels_ == 3 && columns_.taps() == 2) {
    for (int64_t x = 0; x < to_.width; ++x) {
      const auto low = static_cast<int32_t>(columns_.first(x) * channels_);
      const float* const weights = columns_.weights(x);
      blends_.push_back({low, low + 3, weights[0], weights[1]});
    }
    return;
  }
  const int64_t count = to_.width * channels_;
  weights_.resize(columns_.taps() * count);
  for (int64_t x = 0; x < to_.width; ++x) {
    for (int64_t c = 0; c < channels_; ++c) {
      const int64_t i = x * channels_ + c;
      offsets_[i] = static_cast<int32_t>(columns_.first(x) * channels_ + c);
      for (int64_t t = 0; t < columns_.taps(); ++t) {
        weights_[t * count + i] = columns_.weights(x)[t];
      }
    }
  }
}

void Resizer::Resize(const uint8_t* in, float* out) {
  ResizeRows(in, from_.width * channels_, out);
}

void Resizer::Resize(const float* in, float* out) {
  ResizeRows(in, from_.width * channels_, out);
}

void Resizer::Resize(const uint8_t* in, int64_t row_stride, float* out) {
  ResizeRows(in, row_stride, out);
}

template <typename T>
void Resizer::ResizeRows(const T* in, int64_t row_stride, float* out) {
  const int64_t in_count = from_.width * channels_;
  const int64_t out_count = to_.width * channels_;
  for (int64_t y = 0; y < to_.height; ++y, out += out_count) {
    const T* first = in + rows_.first(y) * row_stride;
    const float* weights = rows_.weights(y);
    if (rows_.taps() == 2) {
      BlendRows(first, first + row_stride, weights[0], weights[1], in_count,
                row_.data());
    } else {
      ScaleRow(first, weights[0], in_count, row_.data());
      for (int64_t t = 1; t < rows_.taps(); ++t) {
        AddRow(first + t * row_stride, weights[t], in_count, row_.data());
      }
    }
    if (!blends_.empty()) {
      BlendRgb(row_.data(), blends_.data(), to_.width, out);
      continue;
    }
    if (columns_.taps() == 2) {
      BlendColumns(row_.data(), offsets_.data(), channels_, weights_.data(),
                   weights_.data() + out_count, out_count, out);
      continue;
    }
    ScaleColumns(row_.data(), offsets_.data(), weights_.data(), out_count, out);
    for (int64_t t = 1; t < columns_.taps(); ++t) {
      AddColumns(row_.data() + t * channels_, offsets_.data(),
                 weights_.data() + t * out_count, out_count, out);
    }
  }
}

}  // namespace paceline
