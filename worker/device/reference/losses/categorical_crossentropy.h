// losses/categorical_crossentropy.h of common/model has the formulas.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_CATEGORICAL_CROSSENTROPY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_CATEGORICAL_CROSSENTROPY_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/model/losses/categorical_crossentropy.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/losses/clip.h"

namespace paceline::reference {

template <typename T>
class CategoricalCrossentropyComputation : public LossComputation<T> {
 public:
  CategoricalCrossentropyComputation(const Loss& loss, bool from_logits)
      : smoothing_(static_cast<T>(
            static_cast<const CategoricalCrossentropy&>(loss).label_smoothing)),
        from_logits_(from_logits) {}

  void Compute(const Tensor<T>& input, HostTensor labels, absl::Span<T> losses,
               Tensor<T>* gradient) const override {
    const int64_t size = input.row_size();
    const int64_t rows = input.row_count() / input.batch_size();
    std::fill(losses.begin(), losses.end(), T{0});
    for (int64_t r = 0; r < input.row_count(); ++r) {
      const T* const label = static_cast<const T*>(labels.data) + r * size;
      T* const dx = gradient == nullptr ? nullptr : gradient->row(r);
      const T loss = from_logits_
                         ? FromLogits(input.row(r), size, label, dx)
                         : FromProbabilities(input.row(r), size, label, dx);
      losses[r / rows] += loss / static_cast<T>(rows);
      for (int64_t i = 0; dx != nullptr && i < size; ++i) {
        dx[i] /= static_cast<T>(rows);
      }
    }
  }

 private:
  T Smoothed(T label, int64_t size) const {
    return label * (1 - smoothing_) + smoothing_ / static_cast<T>(size);
  }

  T FromLogits(const T* x, int64_t size, const T* label, T* dx) const {
    const T largest = *std::max_element(x, x + size);
    T sum = 0;
    T label_sum = 0;
    for (int64_t i = 0; i < size; ++i) {
      sum += std::exp(x[i] - largest);
      label_sum += Smoothed(label[i], size);
    }
    T loss = 0;
    for (int64_t i = 0; i < size; ++i) {
      const T y = Smoothed(label[i], size);
      loss += y * (std::log(sum) + largest - x[i]);
      if (dx != nullptr) dx[i] = label_sum * std::exp(x[i] - largest) / sum - y;
    }
    return loss;
  }

  T FromProbabilities(const T* p, int64_t size, const T* label, T* dp) const {
    T sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += p[i];
    T loss = 0;
    // Of the derivatives by q = p / sum, weighted by q.
    T mean_derivative = 0;
    for (int64_t i = 0; i < size; ++i) {
      const T q = p[i] / sum;
      const T y = Smoothed(label[i], size);
      loss -= y * std::log(ClipProbability(q));
      const T derivative = -y * ClipDerivative(q) / ClipProbability(q);
      mean_derivative += derivative * q;
      if (dp != nullptr) dp[i] = derivative;
    }
    for (int64_t i = 0; dp != nullptr && i < size; ++i) {
      dp[i] = (dp[i] - mean_derivative) / sum;
    }
    return loss;
  }

  T smoothing_;
  bool from_logits_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_CATEGORICAL_CROSSENTROPY_H_
