#include "common/data_step/random_zoom_step.h"

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

AffineMatrix RandomZoomStep::Draw(const ImageLayout& image,
                                  StepRandom& random) const {
  const float height = DrawZoom(height_factor, random);
  const float width = width_factor ? DrawZoom(*width_factor, random) : height;
  return Zoom(height, width, image);
}

}  // namespace paceline
