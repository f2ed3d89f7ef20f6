// Scales and shifts numbers.
#ifndef PACELINE_COMMON_DATA_STEP_RESCALING_STEP_H_
#define PACELINE_COMMON_DATA_STEP_RESCALING_STEP_H_

#include <cstdint>
#include <vector>

#include "common/data_step/data_step.h"
#include "common/model/layers/channel_numbers.h"

namespace paceline {

template <typename T>
class FieldTable;

// x · scale + offset.
class RescalingStep : public DataStep {
 public:
  static constexpr char kClassName[] = "Rescaling";
  static const FieldTable<RescalingStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  // Channels are along the last axis.
  ChannelNumbers scale = {{1}};
  ChannelNumbers offset = {{0}};

 private:
  int64_t size_ = 0;
  // Of each channel.
  std::vector<float> factors_;
  std::vector<float> terms_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_RESCALING_STEP_H_
