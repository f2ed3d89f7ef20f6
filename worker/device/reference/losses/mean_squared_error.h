// The mean of squared differences.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_MEAN_SQUARED_ERROR_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_MEAN_SQUARED_ERROR_H_

#include <algorithm>
#include <cstdint>

#include "common/model/losses/mean_squared_error.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class MeanSquaredErrorComputation : public LossComputation<T> {
 public:
  MeanSquaredErrorComputation(const Loss& /*loss*/, bool /*from_logits*/) {}

  void Compute(const Tensor<T>& input, HostTensor labels, absl::Span<T> losses,
               Tensor<T>* gradient) const override {
    const auto* const label = static_cast<const T*>(labels.data);
    const int64_t size = input.example_size();
    std::fill(losses.begin(), losses.end(), T{0});
    for (int64_t i = 0; i < input.size(); ++i) {
      const T difference = input.values[i] - label[i];
      losses[i / size] += difference * difference / static_cast<T>(size);
      if (gradient != nullptr) {
        gradient->values[i] = 2 * difference / static_cast<T>(size);
      }
    }
  }
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LOSSES_MEAN_SQUARED_ERROR_H_
