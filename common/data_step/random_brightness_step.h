// Changes the brightness of images.
#ifndef PACELINE_COMMON_DATA_STEP_RANDOM_BRIGHTNESS_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RANDOM_BRIGHTNESS_STEP_H_

#include <cstdint>
#include <optional>

#include "common/data_step/data_step.h"
#include "common/data_step/factor_range.h"
#include "common/data_step/value_range.h"

namespace paceline {

template <typename T>
class FieldTable;

// Adds a part of the value range within `factor`, and clips.
class RandomBrightnessStep : public DataStep {
 public:
  static constexpr char kClassName[] = "RandomBrightness";
  static const FieldTable<RandomBrightnessStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  bool is_random() const override { return true; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  FactorRange factor;
  ValueRange value_range;
  std::optional<int64_t> seed;

 private:
  int64_t size_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RANDOM_BRIGHTNESS_STEP_H_
