// What a job says of how images become arrays, by the names and defaults of
// Keras' image_dataset_from_directory.
#ifndef PACELINE_COMMON_DATA_SOURCE_IMAGE_OPTIONS_H_
#define PACELINE_COMMON_DATA_SOURCE_IMAGE_OPTIONS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/image/image_loader.h"
#include "common/image/interpolation.h"
#include "common/tensor/shape.h"

namespace paceline {

enum class ColorMode { kRgb, kRgba, kGrayscale };

absl::Span<const EnumName<ColorMode>> EnumNames(ColorMode);

// A part of a source's options.
struct ImageOptions {
  std::array<int64_t, 2> image_size = {256, 256};
  ColorMode color_mode = ColorMode::kRgb;
  Interpolation interpolation = Interpolation::kBilinear;
  bool crop_to_aspect_ratio = false;

  ImageForm Form() const;
  // (height, width, channels).
  Shape ImageShape() const;
};

// Sides of resized images, in pixels: a float32 RGBA image of 1 GiB.
inline constexpr int64_t kMaxImageSide = 8192;

std::vector<Field<ImageOptions>> ImageFields();

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IMAGE_OPTIONS_H_
