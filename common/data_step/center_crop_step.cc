#include "common/data_step/center_crop_step.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/step_fields.h"

namespace paceline {

const FieldTable<CenterCropStep>& CenterCropStep::Fields() {
  static const auto& table = *new FieldTable<CenterCropStep>(
      kClassName, "Takes the middle of images.",
      ImageStepFields<CenterCropStep>(SizeFields<CenterCropStep>()));
  return table;
}

absl::StatusOr<Shape> CenterCropStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(const ImageLayout image, ImageLayoutOf(input));
  const ImageSize target = {height, width};
  ImageCrop crop = {(image.height - height) / 2, (image.width - width) / 2,
                    target};
  if (image.height < height || image.width < width) {
    crop = CropToAspect<double>(image, target);
  }
  resizer_ = CropResizer(image, crop, target, Interpolation::kBilinear);
  return WithImageSize(input, height, width);
}

absl::Status CenterCropStep::Apply(const float* in, float* out,
                                   StepRandom& /*random*/) {
  resizer_.Apply(in, out);
  return absl::OkStatus();
}

}  // namespace paceline
