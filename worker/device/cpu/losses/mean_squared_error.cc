#include "common/model/losses/mean_squared_error.h"

#include "worker/device/cpu/losses/loss_kernel.h"

namespace paceline::cpu {
namespace {

class MeanSquaredErrorKernel final : public LossKernel {
 public:
  explicit MeanSquaredErrorKernel(int64_t size) : size_(size) {}

  void Run(const LossRange& range) const override {
    const auto* labels = reinterpret_cast<const float*>(range.labels);
    const double share = 1.0 / static_cast<double>(size_);
    const auto scale = static_cast<float>(2 * range.gradient_scale * share);
    for (int64_t example = range.begin; example < range.end; ++example) {
      double sum = 0;
      for (int64_t i = example * size_; i < (example + 1) * size_; ++i) {
        const float error = range.outputs[i] - labels[i];
        sum += error * error;
        if (range.gradients != nullptr) range.gradients[i] = scale * error;
      }
      range.values[example] = sum * share;
    }
  }

 private:
  int64_t size_;
};

}  // namespace

std::unique_ptr<const LossKernel> MakeMeanSquaredError(const Loss& /*loss*/,
                                                       bool /*from_logits*/,
                                                       const Shape& output) {
  return std::make_unique<MeanSquaredErrorKernel>(NumElements(output));
}

}  // namespace paceline::cpu
