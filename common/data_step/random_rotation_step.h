// Rotates images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_ROTATION_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_ROTATION_STEP_H_

#include "common/data_step/affine_step.h"
#include "common/data_step/factor_range.h"

namespace paceline {

template <typename T>
class FieldTable;

// About the centre, by an angle within `factor`.
class RandomRotationStep : public AffineStep {
 public:
  static constexpr char kClassName[] = "RandomRotation";
  static const FieldTable<RandomRotationStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  // In whole turns; positive: counter-clockwise.
  FactorRange factor;

 private:
  AffineMatrix Draw(const ImageLayout& image,
                    StepRandom& random) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_ROTATION_STEP_H_
