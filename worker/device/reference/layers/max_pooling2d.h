// The largest element of each window; NaN if one is.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MAX_POOLING2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MAX_POOLING2D_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/model/layers/max_pooling2d.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/window_taps.h"

namespace paceline::reference {

template <typename T>
class MaxPooling2DComputation : public LayerComputation<T> {
 public:
  explicit MaxPooling2DComputation(const LayerContext<T>& context)
      : windows_(static_cast<const MaxPooling2D*>(context.layer)->windows()),
        source_(static_cast<size_t>(NumElements(context.output_shape))) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    constexpr int64_t kNone = -1;
    std::fill(source_.begin(), source_.end(), kNone);
    const int64_t channels = input.row_size();
    ForEachTap(windows_, input.shape, output.shape, [&](const Tap& tap) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t from = tap.input_pixel * channels + c;
        const int64_t to = tap.output_pixel * channels + c;
        if (source_[to] == kNone ||
            IsAbove(input.values[from], output.values[to])) {
          source_[to] = from;
          output.values[to] = input.values[from];
        }
      }
    });
  }

  void Backward(const Step& /*step*/, const Tensor<T>& /*input*/,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    std::fill(input_gradient.values.begin(), input_gradient.values.end(), T{0});
    for (size_t i = 0; i < source_.size(); ++i) {
      input_gradient.values[source_[i]] += output_gradient.values[i];
    }
  }

 private:
  // NaN is above all numbers, as in Keras.
  static bool IsAbove(T a, T b) {
    return a > b || (std::isnan(a) && !std::isnan(b));
  }

  std::array<Window, 2> windows_;
  // Where each element of the output came from.
  std::vector<int64_t> source_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_MAX_POOLING2D_H_
