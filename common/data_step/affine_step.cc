#include "common/data_step/affine_step.h"

#include "common/base/status_macros.h"
#include "common/data_step/step_random.h"

namespace paceline {

absl::StatusOr<Shape> AffineStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(image_, ImageLayoutOf(input));
  transform_ = AffineTransform(image_, fill_mode, interpolation,
                               static_cast<float>(fill_value));
  return input;
}

absl::Status AffineStep::Apply(const float* in, float* out,
                               StepRandom& random) {
  random.Reseed(seed);
  transform_.Apply(Draw(image_, random), in, out);
  return absl::OkStatus();
}

}  // namespace paceline
