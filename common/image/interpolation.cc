#include "common/image/interpolation.h"

namespace paceline {

absl::Span<const EnumName<Interpolation>> EnumNames(Interpolation) {
  static constexpr EnumName<Interpolation> kNames[] = {
      {Interpolation::kBilinear, "bilinear"},
      {Interpolation::kNearest, "nearest"},
      {Interpolation::kBicubic, "bicubic"},
      {Interpolation::kArea, "area"},
      {Interpolation::kLanczos3, "lanczos3"},
      {Interpolation::kLanczos5, "lanczos5"},
      {Interpolation::kGaussian, "gaussian"},
      {Interpolation::kMitchellCubic, "mitchellcubic"},
  };
  return kNames;
}

}  // namespace paceline
