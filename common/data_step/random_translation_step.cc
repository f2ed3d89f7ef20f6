#include "common/data_step/random_translation_step.h"

#include "common/config/field_table.h"
#include "common/data_step/step_fields.h"

namespace paceline {
namespace {

float DrawShift(const FactorRange& factor, int64_t size, StepRandom& random) {
  return random.Uniform(factor.low, factor.high) * static_cast<float>(size);
}

}  // namespace

const FieldTable<RandomTranslationStep>& RandomTranslationStep::Fields() {
  using Self = RandomTranslationStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Moves images.",
      ImageStepFields<Self>(Joined<Self>(
          {{Required("height_factor", &Self::height_factor, Between(-1, 1),
                     "Greatest part of the height in both directions, or the "
                     "least and the greatest, downwards."),
            Required("width_factor", &Self::width_factor, Between(-1, 1),
                     "The same of the width, to the right.")},
           FillFields<Self>()})));
  return table;
}

AffineMatrix RandomTranslationStep::Draw(const ImageLayout& image,
                                         StepRandom& random) const {
  AffineMatrix matrix;
  matrix.y_0 = -DrawShift(height_factor, image.height, random);
  matrix.x_0 = -DrawShift(width_factor, image.width, random);
  return matrix;
}

}  // namespace paceline
