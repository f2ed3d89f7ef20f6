// Numbers in another range.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_RESCALING_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_RESCALING_H_

#include <cstdint>

#include "common/model/layers/rescaling.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class RescalingComputation : public LayerComputation<T> {
 public:
  explicit RescalingComputation(const LayerContext<T>& context)
      : layer_(*static_cast<const Rescaling*>(context.layer)) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    for (int64_t i = 0; i < input.size(); ++i) {
      const int64_t channel = i % input.row_size();
      output.values[i] =
          static_cast<T>(layer_.ScaleOf(channel)) * input.values[i] +
          static_cast<T>(layer_.OffsetOf(channel));
    }
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    for (int64_t i = 0; i < input.size(); ++i) {
      input_gradient.values[i] =
          static_cast<T>(layer_.ScaleOf(i % input.row_size())) *
          output_gradient.values[i];
    }
  }

 private:
  const Rescaling& layer_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_RESCALING_H_
