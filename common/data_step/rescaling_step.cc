#include "common/data_step/rescaling_step.h"

#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/data_step/channel_values.h"
#include "common/data_step/step_fields.h"

namespace paceline {

const FieldTable<RescalingStep>& RescalingStep::Fields() {
  static const auto& table = *new FieldTable<RescalingStep>(
      kClassName, "Numbers in another range: x · scale + offset.",
      StepFields<RescalingStep>(
          {Required("scale", &RescalingStep::scale,
                    "Factor, or one for each channel."),
           Optional("offset", &RescalingStep::offset,
                    "What is added then, or one for each channel.")}));
  return table;
}

absl::StatusOr<Shape> RescalingStep::Build(const Shape& input) {
  size_ = NumElements(input);
  ASSIGN_OR_RETURN(factors_, ChannelValues("scale", scale, input));
  ASSIGN_OR_RETURN(terms_, ChannelValues("offset", offset, input));
  return input;
}

absl::Status RescalingStep::Apply(const float* in, float* out,
                                  StepRandom& /*random*/) {
  const auto channels = static_cast<int64_t>(factors_.size());
  for (int64_t i = 0; i < size_; i += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      out[i + c] = in[i + c] * factors_[c] + terms_[c];
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
