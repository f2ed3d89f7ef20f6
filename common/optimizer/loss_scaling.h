// Keras' LossScaleOptimizer, which lies around another optimizer: how a device
// that computes in float16 scales the loss (Precision in
// worker/device/device.h). Under other precisions it changes nothing.
//
//   optimizer:
//     LossScaleOptimizer:
//       inner_optimizer: {Adam: {learning_rate: 0.01}}
//       initial_scale: 1024
#ifndef PACELINE_COMMON_OPTIMIZER_LOSS_SCALING_H_
#define PACELINE_COMMON_OPTIMIZER_LOSS_SCALING_H_

#include <cstdint>
#include <optional>
#include <string>

namespace paceline {

struct LossScaling {
  static constexpr char kClassName[] = "LossScaleOptimizer";
  static constexpr double kInitialScale = 32768;
  static constexpr int64_t kGrowthSteps = 2000;

  // The scale of the job's first step.
  double first_scale() const { return dynamic_scale.value_or(initial_scale); }

  std::string name = "loss_scale_optimizer";
  double initial_scale = kInitialScale;
  // After so many steps with finite gradients the scale doubles.
  int64_t dynamic_growth_steps = kGrowthSteps;
  // The state with which a model goes on: the scale, null for the initial one,
  // and the steps since it changed.
  std::optional<double> dynamic_scale;
  int64_t step_counter = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_LOSS_SCALING_H_
