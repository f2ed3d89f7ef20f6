// Changes the contrast of images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_CONTRAST_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_CONTRAST_STEP_H_

#include <cstdint>
#include <optional>

#include "common/data_step/data_step.h"
#include "common/data_step/factor_range.h"
#include "common/data_step/image_layout.h"
#include "common/data_step/value_range.h"

namespace paceline {

template <typename T>
class FieldTable;

// (x − mean) · c + mean for each channel, clipped to `value_range`. As in
// Keras, c is in [1, 1 + f] for a number f, and in [1 − f, 1 + g] for a pair
// (f, g).
class RandomContrastStep : public DataStep {
 public:
  static constexpr char kClassName[] = "RandomContrast";
  static const FieldTable<RandomContrastStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_random() const override { return true; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  // What Apply does for a `contrast` that was drawn.
  void Adjust(float contrast, const float* in, float* out) const;

  FactorRange factor;
  ValueRange value_range;
  std::optional<int64_t> seed;

 private:
  ImageLayout image_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_CONTRAST_STEP_H_
