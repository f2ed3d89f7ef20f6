#include "common/model/losses/binary_crossentropy.h"

#include <algorithm>
#include <cmath>

#include "worker/device/activation_formulas.h"
#include "worker/device/cpu/losses/loss_kernel.h"

namespace paceline::cpu {
namespace {

struct ElementLoss {
  float value;
  float slope;
};

class BinaryCrossentropyKernel final : public LossKernel {
 public:
  BinaryCrossentropyKernel(const BinaryCrossentropy& loss, bool from_logits,
                           const Shape& output)
      : from_logits_(from_logits),
        size_(NumElements(output)),
        smoothing_(static_cast<float>(loss.label_smoothing)) {}

  void Run(const LossRange& range) const override {
    const auto* labels = reinterpret_cast<const float*>(range.labels);
    const double share = 1.0 / static_cast<double>(size_);
    const auto scale = static_cast<float>(range.gradient_scale * share);
    for (int64_t example = range.begin; example < range.end; ++example) {
      double sum = 0;
      for (int64_t i = example * size_; i < (example + 1) * size_; ++i) {
        const float label = labels[i] * (1 - smoothing_) + smoothing_ / 2;
        const ElementLoss loss = from_logits_
                                     ? OfLogit(range.outputs[i], label)
                                     : OfProbability(range.outputs[i], label);
        sum += loss.value;
        if (range.gradients != nullptr) {
          range.gradients[i] = scale * loss.slope;
        }
      }
      range.values[example] = sum * share;
    }
  }

 private:
  static ElementLoss OfLogit(float x, float label) {
    return {std::max(x, 0.0f) - x * label + std::log1p(std::exp(-std::abs(x))),
            SigmoidOf(x) - label};
  }

  static ElementLoss OfProbability(float p, float label) {
    const float c = std::clamp(p, kProbabilityMargin, 1 - kProbabilityMargin);
    return {-label * std::log(c) - (1 - label) * std::log(1 - c),
            c == p ? (1 - label) / (1 - c) - label / c : 0.0f};
  }

  bool from_logits_;
  int64_t size_;
  float smoothing_;
};

}  // namespace

std::unique_ptr<const LossKernel> MakeBinaryCrossentropy(const Loss& loss,
                                                         bool from_logits,
                                                         const Shape& output) {
  return std::make_unique<BinaryCrossentropyKernel>(
      static_cast<const BinaryCrossentropy&>(loss), from_logits, output);
}

}  // namespace paceline::cpu
