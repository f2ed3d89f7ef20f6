#include "common/model/losses/sparse_categorical_crossentropy.h"

#include <algorithm>
#include <cmath>

#include "worker/device/cpu/losses/log_sum_exp.h"
#include "worker/device/cpu/losses/loss_kernel.h"

namespace paceline::cpu {
namespace {

class FromLogits final : public LossKernel {
 public:
  explicit FromLogits(int64_t classes) : classes_(classes) {}

  void Run(const LossRange& range) const override {
    const auto* labels = reinterpret_cast<const int32_t*>(range.labels);
    const auto scale = static_cast<float>(range.gradient_scale);
    for (int64_t example = range.begin; example < range.end; ++example) {
      const float* const row = range.outputs + example * classes_;
      const float log_sum = LogSumExp(row, classes_);
      range.values[example] = log_sum - row[labels[example]];
      if (range.gradients == nullptr) continue;
      float* const gradient = range.gradients + example * classes_;
      for (int64_t i = 0; i < classes_; ++i) {
        gradient[i] = scale * std::exp(row[i] - log_sum);
      }
      gradient[labels[example]] -= scale;
    }
  }

 private:
  int64_t classes_;
};

class FromProbabilities final : public LossKernel {
 public:
  explicit FromProbabilities(int64_t classes) : classes_(classes) {}

  void Run(const LossRange& range) const override {
    const auto* labels = reinterpret_cast<const int32_t*>(range.labels);
    const auto scale = static_cast<float>(range.gradient_scale);
    for (int64_t example = range.begin; example < range.end; ++example) {
      const float* const row = range.outputs + example * classes_;
      float sum = 0;
      for (int64_t i = 0; i < classes_; ++i) sum += Clip(row[i]);
      const float chosen = Clip(row[labels[example]]);
      range.values[example] = std::log(sum) - std::log(chosen);
      if (range.gradients == nullptr) continue;
      float* const gradient = range.gradients + example * classes_;
      for (int64_t i = 0; i < classes_; ++i) {
        const float share = 1 / sum - (i == labels[example] ? 1 / chosen : 0);
        gradient[i] = Clip(row[i]) == row[i] ? scale * share : 0;
      }
    }
  }

 private:
  static float Clip(float probability) {
    return std::clamp(probability, kProbabilityMargin, 1 - kProbabilityMargin);
  }

  int64_t classes_;
};

}  // namespace

std::unique_ptr<const LossKernel> MakeSparseCategoricalCrossentropy(
    const Loss& /*loss*/, bool from_logits, const Shape& output) {
  if (from_logits) return std::make_unique<FromLogits>(output.back());
  return std::make_unique<FromProbabilities>(output.back());
}

}  // namespace paceline::cpu
