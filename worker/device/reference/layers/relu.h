// ReLU with all its parameters.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_RELU_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_RELU_H_

#include <algorithm>
#include <limits>

#include "common/model/layers/relu.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class ReLUComputation : public LayerComputation<T> {
 public:
  explicit ReLUComputation(const LayerContext<T>& context)
      : layer_(*static_cast<const ReLU*>(context.layer)) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    const T threshold = static_cast<T>(layer_.threshold);
    const T slope = static_cast<T>(layer_.negative_slope);
    for (int64_t i = 0; i < input.size(); ++i) {
      const T x = input.values[i];
      output.values[i] =
          x > threshold ? std::min(x, ceiling()) : slope * (x - threshold);
    }
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    for (int64_t i = 0; i < input.size(); ++i) {
      input_gradient.values[i] =
          Derivative(input.values[i]) * output_gradient.values[i];
    }
  }

 private:
  T Derivative(T x) const {
    const T threshold = static_cast<T>(layer_.threshold);
    if (x < threshold) return static_cast<T>(layer_.negative_slope);
    if (x == threshold) return static_cast<T>(layer_.derivative_at_threshold());
    return x < ceiling() ? 1 : 0;
  }

  T ceiling() const {
    return static_cast<T>(
        layer_.max_value.value_or(std::numeric_limits<double>::infinity()));
  }

  const ReLU& layer_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_RELU_H_
