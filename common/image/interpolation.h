// How images are resized.
#ifndef PACELINE_COMMON_IMAGE_INTERPOLATION_H_
#define PACELINE_COMMON_IMAGE_INTERPOLATION_H_

#include "absl/types/span.h"
#include "common/config/codec.h"

namespace paceline {

// The methods of tf.image.resize with half-pixel centers and antialias=False.
enum class Interpolation {
  kBilinear,
  kNearest,
  kBicubic,
  kArea,
  kLanczos3,
  kLanczos5,
  kGaussian,
  kMitchellCubic,
};

absl::Span<const EnumName<Interpolation>> EnumNames(Interpolation);

}  // namespace paceline

#endif  // PACELINE_COMMON_IMAGE_INTERPOLATION_H_
