// Rotates images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_ROTATION_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_ROTATION_STEP_H_

#include <cstdint>
#include <optional>

#include "common/data_step/affine.h"
#include "common/data_step/data_step.h"
#include "common/data_step/factor_range.h"
#include "common/data_step/image_layout.h"

namespace paceline {

template <typename T>
class FieldTable;

// About the centre, by an angle within `factor`.
class RandomRotationStep : public DataStep {
 public:
  static constexpr char kClassName[] = "RandomRotation";
  static const FieldTable<RandomRotationStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_random() const override { return true; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  // In whole turns; positive: counter-clockwise.
  FactorRange factor;
  FillMode fill_mode = FillMode::kReflect;
  AffineInterpolation interpolation = AffineInterpolation::kBilinear;
  std::optional<int64_t> seed;
  double fill_value = 0;

 private:
  ImageLayout image_;
  AffineTransform transform_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_ROTATION_STEP_H_
