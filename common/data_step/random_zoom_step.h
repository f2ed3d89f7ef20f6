// Enlarges and shrinks images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_ZOOM_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_ZOOM_STEP_H_

#include <optional>

#include "common/data_step/affine_step.h"
#include "common/data_step/factor_range.h"

namespace paceline {

template <typename T>
class FieldTable;

// About the centre; the size stays.
class RandomZoomStep : public AffineStep {
 public:
  static constexpr char kClassName[] = "RandomZoom";
  static const FieldTable<RandomZoomStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  // 1 + each is how many pixels of the input one of the output covers: negative
  // enlarges.
  FactorRange height_factor;
  // nullopt: as drawn for the height.
  std::optional<FactorRange> width_factor;

 private:
  AffineMatrix Draw(const ImageLayout& image,
                    StepRandom& random) const override;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_ZOOM_STEP_H_
