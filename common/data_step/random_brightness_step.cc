#include "common/data_step/random_brightness_step.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/image_layout.h"
#include "common/data_step/step_fields.h"

namespace paceline {

const FieldTable<RandomBrightnessStep>& RandomBrightnessStep::Fields() {
  using Self = RandomBrightnessStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Changes the brightness of images.",
      ImageStepFields<Self>(
          {Required("factor", &Self::factor, Between(-1, 1),
                    "Greatest part of the value range that is added or taken "
                    "away; or the least and the greatest that is added."),
           Optional("value_range", &Self::value_range,
                    "Values beyond it are clipped."),
           SeedField<Self>()}));
  return table;
}

absl::StatusOr<Shape> RandomBrightnessStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(const ImageLayout image, ImageLayoutOf(input));
  size_ = image.size();
  return input;
}

absl::Status RandomBrightnessStep::Apply(const float* in, float* out,
                                         StepRandom& random) {
  random.Reseed(seed);
  const auto low = static_cast<float>(value_range.low);
  const auto high = static_cast<float>(value_range.high);
  const float added = random.Uniform(factor.low, factor.high) * (high - low);
  for (int64_t i = 0; i < size_; ++i) {
    out[i] = std::clamp(in[i] + added, low, high);
  }
  return absl::OkStatus();
}

}  // namespace paceline
