#include "common/data_step/affine.h"

#include <algorithm>
#include <cmath>

namespace paceline {
namespace {

// A coordinate in an image that is reflected beyond its edges.
float Reflect(float coordinate, int64_t length) {
  const auto size = static_cast<float>(length);
  const float period = 2 * size;
  if (coordinate < 0) {
    if (coordinate < period) {
      coordinate += period * std::trunc(-coordinate / period);
    }
    return coordinate < -size ? coordinate + period : -coordinate - 1;
  }
  if (coordinate > size - 1) {
    coordinate -= period * std::trunc(coordinate / period);
    if (coordinate >= size) coordinate = period - coordinate - 1;
  }
  return coordinate;
}

// A coordinate in an image that is repeated beyond its edges.
float Wrap(float coordinate, int64_t length) {
  const auto size = static_cast<float>(length);
  if (coordinate < 0) {
    return coordinate + size * (std::trunc(-coordinate / (size - 1)) + 1);
  }
  if (coordinate > size - 1) {
    return coordinate - size * std::trunc(coordinate / (size - 1));
  }
  return coordinate;
}

}  // namespace

absl::Span<const EnumName<FillMode>> EnumNames(FillMode) {
  static constexpr EnumName<FillMode> kNames[] = {
      {FillMode::kReflect, "reflect"},
      {FillMode::kWrap, "wrap"},
      {FillMode::kConstant, "constant"},
      {FillMode::kNearest, "nearest"}};
  return kNames;
}

absl::Span<const EnumName<AffineInterpolation>> EnumNames(AffineInterpolation) {
  static constexpr EnumName<AffineInterpolation> kNames[] = {
      {AffineInterpolation::kNearest, "nearest"},
      {AffineInterpolation::kBilinear, "bilinear"}};
  return kNames;
}

AffineTransform::AffineTransform(const ImageLayout& image, FillMode mode,
                                 AffineInterpolation interpolation, float fill)
    : image_(image),
      mode_(mode),
      interpolation_(interpolation),
      fill_(image.row_size() + 1, fill),
      columns_(image.width),
      blends_(image.channels == 3 ? image.width : 0),
      last_row_(image.row_size() + 1) {
  beyond_edge_.reserve(image.width);
  for (BlendedColumns& each : blended_) each.pixels.resize(image.row_size());
}

// As TensorFlow, in float32, at the edges too.
float AffineTransform::MapInside(float coordinate, int64_t length) const {
  if (mode_ == FillMode::kConstant) return coordinate;
  const auto last = static_cast<float>(length - 1);
  if (length > 1 && mode_ == FillMode::kReflect) {
    coordinate = Reflect(coordinate, length);
  } else if (length > 1 && mode_ == FillMode::kWrap) {
    coordinate = Wrap(coordinate, length);
  }
  return std::clamp(coordinate, 0.0F, last);
}

AffineTransform::Neighbours AffineTransform::NeighboursOf(
    float coordinate, int64_t length) const {
  const float mapped = MapInside(coordinate, length);
  const auto size = static_cast<float>(length);
  const auto inside = [size](float index) {
    return index >= 0 && index < size ? static_cast<int64_t>(index) : -1;
  };
  if (interpolation_ == AffineInterpolation::kNearest) {
    const int64_t nearest = inside(std::round(mapped));
    return {nearest, nearest, 1, 0};
  }
  const float low = std::floor(mapped);
  const float high = low + 1;
  return {inside(low), inside(high), high - mapped, mapped - low};
}

const float* AffineTransform::PixelAt(const float* row, int64_t x) const {
  return x < 0 ? fill_.data() : row + x * image_.channels;
}

void AffineTransform::Blend(const float* in, const Neighbours& x,
                            const Neighbours& y, float* out) const {
  const auto row_of = [&](int64_t row) {
    return row < 0 ? fill_.data() : in + row * image_.row_size();
  };
  const float* low = row_of(y.low);
  const float* high = row_of(y.high);
  const float* low_low = PixelAt(low, x.low);
  const float* low_high = PixelAt(low, x.high);
  const float* high_low = PixelAt(high, x.low);
  const float* high_high = PixelAt(high, x.high);
  for (int64_t c = 0; c < image_.channels; ++c) {
    const float of_low = x.low_share * low_low[c] + x.high_share * low_high[c];
    const float of_high =
        x.low_share * high_low[c] + x.high_share * high_high[c];
    out[c] = y.low_share * of_low + y.high_share * of_high;
  }
}

void AffineTransform::Apply(const AffineMatrix& matrix, const float* in,
                            float* out) {
  if (matrix.x_y == 0 && matrix.y_x == 0) {
    ApplyByAxis(matrix, in, out);
    return;
  }
  for (int64_t row = 0; row < image_.height; ++row) {
    const auto y = static_cast<float>(row);
    for (int64_t column = 0; column < image_.width; ++column) {
      const auto x = static_cast<float>(column);
      Blend(in,
            NeighboursOf(matrix.x_x * x + matrix.x_y * y + matrix.x_0,
                         image_.width),
            NeighboursOf(matrix.y_x * x + matrix.y_y * y + matrix.y_0,
                         image_.height),
            out);
      out += image_.channels;
    }
  }
}

void AffineTransform::ComputeColumns(const AffineMatrix& matrix) {
  beyond_edge_.clear();
  for (int64_t column = 0; column < image_.width; ++column) {
    const Neighbours x = NeighboursOf(
        matrix.x_x * static_cast<float>(column) + matrix.x_0, image_.width);
    columns_[column] = x;
    if (blends_.empty()) continue;
    const int64_t low = std::max(x.low, int64_t{0});
    const int64_t high = x.high < 0 ? low : x.high;
    blends_[column] = {static_cast<int32_t>(3 * low),
                       static_cast<int32_t>(3 * high), x.low_share,
                       x.high_share};
    if (x.low < 0 || (x.high < 0 && x.high_share != 0)) {
      beyond_edge_.push_back(column);
    }
  }
}

void AffineTransform::BlendColumnsOf(const float* in, int64_t row, float* out) {
  const float* const pixels =
      row < 0 ? fill_.data() : in + row * image_.row_size();
  const auto blend = [&](int64_t column) {
    const Neighbours& x = columns_[column];
    const float* const low = PixelAt(pixels, x.low);
    const float* const high = PixelAt(pixels, x.high);
    for (int64_t c = 0; c < image_.channels; ++c) {
      out[column * image_.channels + c] =
          x.low_share * low[c] + x.high_share * high[c];
    }
  };
  if (blends_.empty()) {
    for (int64_t column = 0; column < image_.width; ++column) blend(column);
    return;
  }
  const float* readable = pixels;
  if (row == image_.height - 1) {
    std::copy_n(pixels, image_.row_size(), last_row_.data());
    readable = last_row_.data();
  }
  BlendRgb(readable, blends_.data(), image_.width, out);
  for (const int64_t column : beyond_edge_) blend(column);
}

const float* AffineTransform::BlendedRow(const float* in, int64_t row,
                                         int64_t kept) {
  for (const BlendedColumns& each : blended_) {
    if (each.row == row) return each.pixels.data();
  }
  BlendedColumns& replaced = blended_[blended_[0].row == kept ? 1 : 0];
  BlendColumnsOf(in, row, replaced.pixels.data());
  replaced.row = row;
  return replaced.pixels.data();
}

void AffineTransform::ApplyByAxis(const AffineMatrix& matrix, const float* in,
                                  float* out) {
  ComputeColumns(matrix);
  for (BlendedColumns& each : blended_) each.row = kNoRow;
  for (int64_t row = 0; row < image_.height; ++row) {
    const Neighbours y = NeighboursOf(
        matrix.y_y * static_cast<float>(row) + matrix.y_0, image_.height);
    const float* const low = BlendedRow(in, y.low, y.high);
    const float* const high = BlendedRow(in, y.high, y.low);
    BlendRows(low, high, y.low_share, y.high_share, image_.row_size(), out);
    out += image_.row_size();
  }
}

}  // namespace paceline
