#include "common/data_step/normalization_step.h"

#include <algorithm>
#include <cmath>

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/channel_values.h"
#include "common/data_step/step_fields.h"

namespace paceline {
namespace {

// Keras' epsilon().
constexpr float kLeastDivisor = 1e-7F;

}  // namespace

const FieldTable<NormalizationStep>& NormalizationStep::Fields() {
  using Self = NormalizationStep;
  static const auto& table = *new FieldTable<Self>(
      kClassName, "Normalization by a mean and a variance.",
      StepFields<Self>(
          {Only("axis", -1, "Channels are along the last axis."),
           Required("mean", &Self::mean, "Mean, or one for each channel."),
           Required("variance", &Self::variance, AtLeast(0),
                    "Variance, or one for each channel."),
           Optional("invert", &Self::invert, "Whether it undoes the same.")}));
  return table;
}

absl::StatusOr<Shape> NormalizationStep::Build(const Shape& input) {
  size_ = NumElements(input);
  ASSIGN_OR_RETURN(means_, ChannelValues("mean", mean, input));
  ASSIGN_OR_RETURN(deviations_, ChannelValues("variance", variance, input));
  for (float& each : deviations_) {
    each = std::max(std::sqrt(each), kLeastDivisor);
  }
  return input;
}

absl::Status NormalizationStep::Apply(const float* in, float* out,
                                      StepRandom& /*random*/) {
  const auto channels = static_cast<int64_t>(means_.size());
  for (int64_t i = 0; i < size_; i += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      out[i + c] = invert ? in[i + c] * deviations_[c] + means_[c]
                          : (in[i + c] - means_[c]) / deviations_[c];
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
