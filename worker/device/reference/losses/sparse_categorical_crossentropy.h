// losses/sparse_categorical_crossentropy.h of common/model has the formulas.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/model/losses/sparse_categorical_crossentropy.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/losses/clip.h"

namespace paceline::reference {

template <typename T>
class SparseCategoricalCrossentropyComputation : public LossComputation<T> {
 public:
  SparseCategoricalCrossentropyComputation(const Loss& /*loss*/,
                                           bool from_logits)
      : from_logits_(from_logits) {}

  void Compute(const Tensor<T>& input, HostTensor labels, absl::Span<T> losses,
               Tensor<T>* gradient) const override {
    const auto* const label = static_cast<const int32_t*>(labels.data);
    for (int64_t r = 0; r < input.row_count(); ++r) {
      T* const dx = gradient == nullptr ? nullptr : gradient->row(r);
      const T* const x = input.row(r);
      losses[r] = from_logits_
                      ? FromLogits(x, input.row_size(), label[r], dx)
                      : FromProbabilities(x, input.row_size(), label[r], dx);
    }
  }

 private:
  static T FromLogits(const T* x, int64_t size, int32_t label, T* dx) {
    const T largest = *std::max_element(x, x + size);
    T sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += std::exp(x[i] - largest);
    if (dx != nullptr) {
      for (int64_t i = 0; i < size; ++i) dx[i] = std::exp(x[i] - largest) / sum;
      dx[label] -= 1;
    }
    return std::log(sum) + largest - x[label];
  }

  static T FromProbabilities(const T* p, int64_t size, int32_t label, T* dp) {
    T sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += ClipProbability(p[i]);
    const T clipped = ClipProbability(p[label]);
    if (dp != nullptr) {
      for (int64_t i = 0; i < size; ++i) dp[i] = ClipDerivative(p[i]) / sum;
      dp[label] -= ClipDerivative(p[label]) / clipped;
    }
    return std::log(sum) - std::log(clipped);
  }

  bool from_logits_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_SPARSE_CATEGORICAL_CROSSENTROPY_H_
