// The mean of each channel over an image.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_

#include <algorithm>
#include <cstdint>

#include "common/model/layers/global_average_pooling2d.h"
#include "worker/device/reference/computation.h"

namespace paceline::reference {

template <typename T>
class GlobalAveragePooling2DComputation : public LayerComputation<T> {
 public:
  explicit GlobalAveragePooling2DComputation(const LayerContext<T>& context)
      : pixels_(context.input_shape[1] * context.input_shape[2]) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    std::fill(output.values.begin(), output.values.end(), T{0});
    for (int64_t pixel = 0; pixel < input.row_count(); ++pixel) {
      T* const mean = output.row(pixel / pixels_);
      for (int64_t c = 0; c < input.row_size(); ++c) {
        mean[c] += input.row(pixel)[c] / static_cast<T>(pixels_);
      }
    }
  }

  void Backward(const Step& /*step*/, const Tensor<T>& /*input*/,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    for (int64_t pixel = 0; pixel < input_gradient.row_count(); ++pixel) {
      const T* const gradient = output_gradient.row(pixel / pixels_);
      for (int64_t c = 0; c < input_gradient.row_size(); ++c) {
        input_gradient.row(pixel)[c] = gradient[c] / static_cast<T>(pixels_);
      }
    }
  }

 private:
  // Of one image.
  int64_t pixels_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_GLOBAL_AVERAGE_POOLING2D_H_
