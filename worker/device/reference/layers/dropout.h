// Dropout by the mask that all devices share.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DROPOUT_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DROPOUT_H_

#include <cstdint>

#include "common/model/dropout_mask.h"
#include "common/model/layers/dropout.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class DropoutComputation : public LayerComputation<T> {
 public:
  explicit DropoutComputation(const LayerContext<T>& context)
      : layer_(*static_cast<const Dropout*>(context.layer)),
        seed_(context.seed) {}

  void Forward(const Step& step, const Tensor<T>& input,
               Tensor<T>& output) override {
    if (step.mode == Mode::kEvaluate) {
      output.values = input.values;
    } else {
      Mask(step, input, output);
    }
  }

  void Backward(const Step& step, const Tensor<T>& /*input*/,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    Mask(step, output_gradient, input_gradient);
  }

 private:
  void Mask(const Step& step, const Tensor<T>& from, Tensor<T>& to) const {
    const DropoutMask mask(layer_, seed_, step.batch.epoch);
    const int64_t size = from.example_size();
    for (int64_t i = 0; i < from.size(); ++i) {
      const bool kept =
          mask.IsKept(step.batch.first_example + i / size, i % size);
      to.values[i] =
          kept ? from.values[i] * static_cast<T>(mask.scale()) : T{0};
    }
  }

  const Dropout& layer_;
  uint64_t seed_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_DROPOUT_H_
