// losses/binary_crossentropy.h of common/model has the formulas.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_BINARY_CROSSENTROPY_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_BINARY_CROSSENTROPY_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/model/losses/binary_crossentropy.h"
#include "worker/device/activation_formulas.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/losses/clip.h"

namespace paceline::reference {

template <typename T>
class BinaryCrossentropyComputation : public LossComputation<T> {
 public:
  BinaryCrossentropyComputation(const Loss& loss, bool from_logits)
      : smoothing_(static_cast<T>(
            static_cast<const BinaryCrossentropy&>(loss).label_smoothing)),
        from_logits_(from_logits) {}

  void Compute(const Tensor<T>& input, HostTensor labels, absl::Span<T> losses,
               Tensor<T>* gradient) const override {
    const auto* const label = static_cast<const T*>(labels.data);
    const int64_t size = input.example_size();
    std::fill(losses.begin(), losses.end(), T{0});
    for (int64_t i = 0; i < input.size(); ++i) {
      const auto [loss, derivative] =
          from_logits_ ? FromLogit(input.values[i], Smoothed(label[i]))
                       : FromProbability(input.values[i], Smoothed(label[i]));
      losses[i / size] += loss / static_cast<T>(size);
      if (gradient != nullptr) {
        gradient->values[i] = derivative / static_cast<T>(size);
      }
    }
  }

 private:
  // Of one element.
  struct LossAndDerivative {
    T loss;
    T derivative;
  };

  T Smoothed(T label) const {
    return label * (1 - smoothing_) + smoothing_ / 2;
  }

  static LossAndDerivative FromLogit(T x, T y) {
    return {SoftplusOf(x) - x * y, SigmoidOf(x) - y};
  }

  static LossAndDerivative FromProbability(T p, T y) {
    const T c = ClipProbability(p);
    return {-y * std::log(c) - (1 - y) * std::log(1 - c),
            ClipDerivative(p) * ((1 - y) / (1 - c) - y / c)};
  }

  T smoothing_;
  bool from_logits_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_BINARY_CROSSENTROPY_H_
