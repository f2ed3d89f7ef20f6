#include "common/data_step/random_crop_step.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/step_fields.h"

namespace paceline {

const FieldTable<RandomCropStep>& RandomCropStep::Fields() {
  using Self = RandomCropStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Takes a part of images, anywhere.",
      ImageStepFields<Self>(
          Joined<Self>({SizeFields<Self>(), {SeedField<Self>()}})));
  return table;
}

absl::StatusOr<Shape> RandomCropStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(image_, ImageLayoutOf(input));
  const ImageSize target = {height, width};
  ImageCrop middle = CropToAspect<double>(image_, target);
  middle.size = {std::min(height, image_.height - middle.top),
                 std::min(width, image_.width - middle.left)};
  middle_ = CropResizer(image_, middle, target, Interpolation::kBilinear);
  return WithImageSize(input, height, width);
}

absl::Status RandomCropStep::Apply(const float* in, float* out,
                                   StepRandom& random) {
  random.Reseed(seed);
  const int64_t rows = image_.height - height;
  const int64_t columns = image_.width - width;
  if (!is_middle_ && rows > 0 && columns > 0) {
    const int64_t top = random.Below(rows + 1);
    const int64_t left = random.Below(columns + 1);
    CopyCrop({top, left, {height, width}}, image_, in, out);
  } else {
    middle_.Apply(in, out);
  }
  return absl::OkStatus();
}

}  // namespace paceline
