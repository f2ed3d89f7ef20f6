// Moves images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_TRANSLATION_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_TRANSLATION_STEP_H_

#include <cstdint>
#include <optional>

#include "common/data_step/affine.h"
#include "common/data_step/data_step.h"
#include "common/data_step/factor_range.h"
#include "common/data_step/image_layout.h"

namespace paceline {

template <typename T>
class FieldTable;

// Up or down, left or right.
class RandomTranslationStep : public DataStep {
 public:
  static constexpr char kClassName[] = "RandomTranslation";
  static const FieldTable<RandomTranslationStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_random() const override { return true; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  // Parts of the height and the width; positive: down and to the right.
  FactorRange height_factor;
  FactorRange width_factor;
  FillMode fill_mode = FillMode::kReflect;
  AffineInterpolation interpolation = AffineInterpolation::kBilinear;
  std::optional<int64_t> seed;
  double fill_value = 0;

 private:
  ImageLayout image_;
  AffineTransform transform_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_TRANSLATION_STEP_H_
