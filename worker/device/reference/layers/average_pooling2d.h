// The mean of each window over what is inside the image.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_AVERAGE_POOLING2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_AVERAGE_POOLING2D_H_

#include <algorithm>
#include <array>
#include <vector>

#include "common/model/layers/average_pooling2d.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/window_taps.h"

namespace paceline::reference {

template <typename T>
class AveragePooling2DComputation : public LayerComputation<T> {
 public:
  explicit AveragePooling2DComputation(const LayerContext<T>& context)
      : windows_(
            static_cast<const AveragePooling2D*>(context.layer)->windows()),
        counts_(static_cast<size_t>(NumElements(context.output_shape) /
                                    context.output_shape.back())) {
    ForEachTap(windows_, context.input_shape, context.output_shape,
               [&](const Tap& tap) { counts_[tap.output_pixel] += 1; });
  }

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    std::fill(output.values.begin(), output.values.end(), T{0});
    ForEachTap(windows_, input.shape, output.shape, [&](const Tap& tap) {
      for (int64_t c = 0; c < input.row_size(); ++c) {
        output.row(tap.output_pixel)[c] +=
            input.row(tap.input_pixel)[c] / counts_[tap.output_pixel];
      }
    });
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    std::fill(input_gradient.values.begin(), input_gradient.values.end(), T{0});
    ForEachTap(windows_, input.shape, output_gradient.shape,
               [&](const Tap& tap) {
                 for (int64_t c = 0; c < input.row_size(); ++c) {
                   input_gradient.row(tap.input_pixel)[c] +=
                       output_gradient.row(tap.output_pixel)[c] /
                       counts_[tap.output_pixel];
                 }
               });
  }

 private:
  std::array<Window, 2> windows_;
  // Elements that each output pixel averages.
  std::vector<T> counts_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_AVERAGE_POOLING2D_H_
