// Normalization by a mean and a variance that the job gives.
#ifndef PACELINE_COMMON_DATA_STEP_NORMALIZATION_STEP_H_
#define PACELINE_COMMON_DATA_STEP_NORMALIZATION_STEP_H_

#include <cstdint>
#include <vector>

#include "common/data_step/data_step.h"
#include "common/model/layers/channel_numbers.h"

namespace paceline {

template <typename T>
class FieldTable;

// (x − mean) / max(√variance, 1e-7); if `invert`, the inverse.
class NormalizationStep : public DataStep {
 public:
  static constexpr char kClassName[] = "Normalization";
  static const FieldTable<NormalizationStep>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::StatusOr<Shape> Build(const Shape& input) override;
  absl::Status Apply(const float* in, float* out, StepRandom& random) override;

  // Channels are along the last axis.
  ChannelNumbers mean = {{0}};
  ChannelNumbers variance = {{1}};
  bool invert = false;

 private:
  int64_t size_ = 0;
  // Of each channel.
  std::vector<float> means_;
  std::vector<float> deviations_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_STEP_NORMALIZATION_STEP_H_
