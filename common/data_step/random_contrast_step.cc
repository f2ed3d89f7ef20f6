#include "common/data_step/random_contrast_step.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/contrast_kernels.h"
#include "common/data_step/step_fields.h"

namespace paceline {

const FieldTable<RandomContrastStep>& RandomContrastStep::Fields() {
  using Self = RandomContrastStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Changes the contrast of images.",
      ImageStepFields<Self>(
          {Required("factor", &Self::factor, Between(0, 1),
                    "How much is added to a contrast of 1 at most; or how much "
                    "is taken away, and how much is added."),
           Optional("value_range", &Self::value_range,
                    "Values beyond it are clipped."),
           SeedField<Self>()}));
  return table;
}

absl::StatusOr<Shape> RandomContrastStep::Build(const Shape& input) {
  ASSIGN_OR_RETURN(image_, ImageLayoutOf(input));
  return input;
}

absl::Status RandomContrastStep::Apply(const float* in, float* out,
                                       StepRandom& random) {
  random.Reseed(seed);
  const double least = 1 - std::max(factor.low, 0.0);
  Adjust(random.Uniform(least, 1 + factor.high), in, out);
  return absl::OkStatus();
}

void RandomContrastStep::Adjust(float contrast, const float* in,
                                float* out) const {
  const int64_t channels = image_.channels;
  const auto low = static_cast<float>(value_range.low);
  const auto high = static_cast<float>(value_range.high);
  if (kContrastLanes % channels == 0) {
    // Lane i is of channel i % channels.
    double sums[kContrastLanes] = {};
    const int64_t whole = image_.size() / kContrastLanes * kContrastLanes;
    AddToLanes(in, whole, sums);
    for (int64_t i = whole; i < image_.size(); ++i) sums[i - whole] += in[i];
    float means[kContrastLanes];
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (int64_t i = c; i < kContrastLanes; i += channels) sum += sums[i];
      const auto mean =
          static_cast<float>(sum / static_cast<double>(image_.pixels()));
      for (int64_t i = c; i < kContrastLanes; i += channels) means[i] = mean;
    }
    AdjustContrast(in, image_.size(), means, contrast, low, high, out);
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (int64_t i = c; i < image_.size(); i += channels) sum += in[i];
    const auto mean =
        static_cast<float>(sum / static_cast<double>(image_.pixels()));
    for (int64_t i = c; i < image_.size(); i += channels) {
      out[i] = std::clamp((in[i] - mean) * contrast + mean, low, high);
    }
  }
}

}  // namespace paceline
