#include "common/model/losses/categorical_crossentropy.h"

#include <algorithm>
#include <cmath>

#include "worker/device/cpu/losses/log_sum_exp.h"
#include "worker/device/cpu/losses/loss_kernel.h"

namespace paceline::cpu {
namespace {

// Rows of classes; the loss of an example is the mean over its rows.
class CategoricalCrossentropyKernel final : public LossKernel {
 public:
  CategoricalCrossentropyKernel(const CategoricalCrossentropy& loss,
                                bool from_logits, const Shape& output)
      : from_logits_(from_logits),
        classes_(output.back()),
        rows_(NumElements(output) / output.back()),
        kept_(static_cast<float>(1 - loss.label_smoothing)),
        spread_(static_cast<float>(loss.label_smoothing /
                                   static_cast<double>(classes_))) {}

  void Run(const LossRange& range) const override {
    const auto* labels = reinterpret_cast<const float*>(range.labels);
    const auto row_share = 1.0 / static_cast<double>(rows_);
    const auto scale = static_cast<float>(range.gradient_scale * row_share);
    for (int64_t example = range.begin; example < range.end; ++example) {
      double sum = 0;
      for (int64_t row = example * rows_; row < (example + 1) * rows_; ++row) {
        const int64_t offset = row * classes_;
        float* const gradient =
            range.gradients == nullptr ? nullptr : range.gradients + offset;
        sum += from_logits_
                   ? RunLogits(range.outputs + offset, labels + offset, scale,
                               gradient)
                   : RunProbabilities(range.outputs + offset, labels + offset,
                                      scale, gradient);
      }
      range.values[example] = sum * row_share;
    }
  }

 private:
  float Smoothed(float label) const { return label * kept_ + spread_; }

  float RunLogits(const float* row, const float* labels, float scale,
                  float* gradient) const {
    const float log_sum = LogSumExp(row, classes_);
    float loss = 0;
    float label_sum = 0;
    for (int64_t i = 0; i < classes_; ++i) {
      const float label = Smoothed(labels[i]);
      loss += label * (log_sum - row[i]);
      label_sum += label;
    }
    if (gradient == nullptr) return loss;
    for (int64_t i = 0; i < classes_; ++i) {
      gradient[i] = scale * (label_sum * std::exp(row[i] - log_sum) -
                             Smoothed(labels[i]));
    }
    return loss;
  }

  // The row is divided by its sum, then capped.
  float RunProbabilities(const float* row, const float* labels, float scale,
                         float* gradient) const {
    float sum = 0;
    for (int64_t i = 0; i < classes_; ++i) sum += row[i];
    float loss = 0;
    // Σ d(loss)/d(quotient) · quotient.
    float mean_slope = 0;
    for (int64_t i = 0; i < classes_; ++i) {
      const float quotient = row[i] / sum;
      loss -= Smoothed(labels[i]) * std::log(Clip(quotient));
      mean_slope += Slope(quotient, labels[i]) * quotient;
    }
    if (gradient == nullptr) return loss;
    for (int64_t i = 0; i < classes_; ++i) {
      gradient[i] = scale * (Slope(row[i] / sum, labels[i]) - mean_slope) / sum;
    }
    return loss;
  }

  static float Clip(float probability) {
    return std::clamp(probability, kProbabilityMargin, 1 - kProbabilityMargin);
  }
  float Slope(float quotient, float label) const {
    return Clip(quotient) == quotient ? -Smoothed(label) / quotient : 0.0f;
  }

  bool from_logits_;
  int64_t classes_;
  int64_t rows_;
  // A smoothed label is label · kept_ + spread_.
  float kept_;
  float spread_;
};

}  // namespace

std::unique_ptr<const LossKernel> MakeCategoricalCrossentropy(
    const Loss& loss, bool from_logits, const Shape& output) {
  return std::make_unique<CategoricalCrossentropyKernel>(
      static_cast<const CategoricalCrossentropy&>(loss), from_logits, output);
}

}  // namespace paceline::cpu
