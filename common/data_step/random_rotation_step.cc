#include "common/data_step/random_rotation_step.h"

#include <cmath>

#include "common/config/field_table.h"
#include "common/data_step/step_fields.h"

namespace paceline {
namespace {

constexpr float kRadians = 3.14159265358979F / 180;

// As Keras computes it, in float32.
AffineMatrix Rotation(float degrees, const ImageLayout& image) {
  const float cosine = std::cos(degrees * kRadians);
  const float sine = std::sin(degrees * kRadians);
  const float center_x = 0.5F * static_cast<float>(image.width - 1);
  const float center_y = 0.5F * static_cast<float>(image.height - 1);
  AffineMatrix matrix;
  matrix.x_x = cosine;
  matrix.x_y = -sine;
  matrix.x_0 = center_x - center_x * cosine + center_y * sine;
  matrix.y_x = sine;
  matrix.y_y = cosine;
  matrix.y_0 = center_y - center_x * sine - center_y * cosine;
  return matrix;
}

}  // namespace

const FieldTable<RandomRotationStep>& RandomRotationStep::Fields() {
  using Self = RandomRotationStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Rotates images about their centre.",
      ImageStepFields<Self>(Joined<Self>(
          {{Required("factor", &Self::factor, Between(-1, 1),
                     "Greatest angle in both directions, in whole turns; or "
                     "the least and the greatest, counter-clockwise.")},
           FillFields<Self>()})));
  return table;
}

AffineMatrix RandomRotationStep::Draw(const ImageLayout& image,
                                      StepRandom& random) const {
  const float degrees = random.Uniform(factor.low * 360, factor.high * 360);
  return Rotation(degrees, image);
}

}  // namespace paceline
