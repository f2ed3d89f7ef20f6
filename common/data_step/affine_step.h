// What steps that move pixels by chance share.
#ifndef PACELINE_COMMON_DATA_STEP_AFFINE_STEP_H_
#define PACELINE_COMMON_DATA_STEP_AFFINE_STEP_H_

#include <cstdint>
#include <optional>

#include "common/data_step/affine.h"
#include "common/data_step/data_step.h"
#include "common/data_step/image_layout.h"

namespace paceline {

// Transforms images by a matrix that is drawn. FillFields (step_fields.h) has
// its fields.
class AffineStep : public DataStep {
 public:
  bool is_random() const final { return true; }
  absl::StatusOr<Shape> Build(const Shape& input) final;
  absl::Status Apply(const float* in, float* out, StepRandom& random) final;

  FillMode fill_mode = FillMode::kReflect;
  AffineInterpolation interpolation = AffineInterpolation::kBilinear;
  std::optional<int64_t> seed;
  double fill_value = 0;

 private:
  // The transformation of one image of this layout.
  virtual AffineMatrix Draw(const ImageLayout& image,
                            StepRandom& random) const = 0;

  ImageLayout image_;
  AffineTransform transform_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_AFFINE_STEP_H_
