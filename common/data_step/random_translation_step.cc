#include "common/data_step/random_translation_step.h"

#include "common/base/status_macros.h"
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

absl::StatusOr<Shape> RandomTranslationStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(image_, ImageLayoutOf(input));
  transform_ = AffineTransform(image_, fill_mode, interpolation,
                               static_cast<float>(fill_value));
  return input;
}

absl::Status RandomTranslationStep::Apply(const float* in, float* out,
                                          StepRandom& random) {
  random.Reseed(seed);
  AffineMatrix matrix;
  matrix.y_0 = -DrawShift(height_factor, image_.height, random);
  matrix.x_0 = -DrawShift(width_factor, image_.width, random);
  transform_.Apply(matrix, in, out);
  return absl::OkStatus();
}

}  // namespace paceline
