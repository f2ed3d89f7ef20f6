// Moves images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_TRANSLATION_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_TRANSLATION_STEP_H_

#include "common/data_step/affine_step.h"
#include "common/data_step/factor_range.h"

namespace paceline {

template <typename T>
class FieldTable;

// Up or down, left or right.
class RandomTranslationStep : public AffineStep {
 public:
  static constexpr char kClassName[] = "RandomTranslation";
  static const FieldTable<RandomTranslationStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  // Parts of the height and the width; positive: down and to the right.
  FactorRange height_factor;
  FactorRange width_factor;

 private:
  AffineMatrix Draw(const ImageLayout& image,
                    StepRandom& random) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_TRANSLATION_STEP_H_
