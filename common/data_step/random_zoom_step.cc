#include "common/data_step/random_zoom_step.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/step_fields.h"

namespace paceline {
namespace {

// As Keras computes it, in float32.
AffineMatrix Zoom(float height, float width, const ImageLayout& image) {
  AffineMatrix matrix;
  matrix.x_x = width;
  matrix.x_0 = static_cast<float>(image.width - 1) / 2 * (1 - width);
  matrix.y_y = height;
  matrix.y_0 = static_cast<float>(image.height - 1) / 2 * (1 - height);
  return matrix;
}

float DrawZoom(const FactorRange& factor, StepRandom& random) {
  return random.Uniform(1 + factor.low, 1 + factor.high);
}

}  // namespace

const FieldTable<RandomZoomStep>& RandomZoomStep::Fields() {
  using Self = RandomZoomStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Enlarges and shrinks images about their centre.",
      ImageStepFields<Self>(Joined<Self>(
          {{Required("height_factor", &Self::height_factor, AboveUpTo(-1, 1),
                     "Greatest change of the height in both directions, or "
                     "the least and the greatest: -0.2 enlarges, so that 80% "
                     "of the height are left; 0.2 shrinks."),
            Optional("width_factor", &Self::width_factor, AboveUpTo(-1, 1),
                     "The same of the width; null: as drawn for the height.")},
           FillFields<Self>()})));
  return table;
}

absl::StatusOr<Shape> RandomZoomStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(image_, ImageLayoutOf(input));
  transform_ = AffineTransform(image_, fill_mode, interpolation,
                               static_cast<float>(fill_value));
  return input;
}

absl::Status RandomZoomStep::Apply(const float* in, float* out,
                                   StepRandom& random) {
  random.Reseed(seed);
  const float height = DrawZoom(height_factor, random);
  const float width = width_factor ? DrawZoom(*width_factor, random) : height;
  transform_.Apply(Zoom(height, width, image_), in, out);
  return absl::OkStatus();
}

}  // namespace paceline
