#include "common/data_source/image_options.h"

namespace paceline {

absl::Span<const EnumName<ColorMode>> EnumNames(ColorMode) {
  static constexpr EnumName<ColorMode> kNames[] = {
      {ColorMode::kRgb, "rgb"},
      {ColorMode::kRgba, "rgba"},
      {ColorMode::kGrayscale, "grayscale"},
  };
  return kNames;
}

ImageForm ImageOptions::Form() const {
  ImageForm form;
  form.size = {image_size[0], image_size[1]};
  form.channels = color_mode == ColorMode::kGrayscale ? 1
                  : color_mode == ColorMode::kRgb     ? 3
                                                      : 4;
  form.interpolation = interpolation;
  form.crop_to_aspect_ratio = crop_to_aspect_ratio;
  return form;
}

Shape ImageOptions::ImageShape() const {
  return {image_size[0], image_size[1], Form().channels};
}

std::vector<Field<ImageOptions>> ImageFields() {
  return {Optional("image_size", &ImageOptions::image_size,
                   Between(1, kMaxImageSide),
                   "Height and width to which images are resized."),
          Optional("color_mode", &ImageOptions::color_mode,
                   "Channels to which images are converted."),
          Optional("interpolation", &ImageOptions::interpolation,
                   "How images are resized, as tf.image.resize does it."),
          Optional("crop_to_aspect_ratio", &ImageOptions::crop_to_aspect_ratio,
                   "Whether images are cut to the ratio of `image_size`, about "
                   "their center, before they are resized. Otherwise they are "
                   "distorted.")};
}

}  // namespace paceline
