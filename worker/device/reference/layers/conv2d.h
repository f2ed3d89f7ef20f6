// The sum over the taps of a window, each with a matrix of its own.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONV2D_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONV2D_H_

#include <algorithm>
#include <array>
#include <vector>

#include "common/model/layers/conv2d.h"
#include "worker/device/reference/computation.h"
#include "worker/device/reference/window_taps.h"

namespace paceline::reference {

template <typename T>
class Conv2DComputation : public LayerComputation<T> {
 public:
  explicit Conv2DComputation(const LayerContext<T>& context)
      : windows_(static_cast<const Conv2D*>(context.layer)->windows()),
        variables_(context.variables) {}

  void Forward(const Step& /*step*/, const Tensor<T>& input,
               Tensor<T>& output) override {
    const absl::Span<const T> kernel = variables_[0].value;
    const int64_t channels = input.row_size();
    const int64_t filters = output.row_size();
    for (int64_t pixel = 0; pixel < output.row_count(); ++pixel) {
      for (int64_t f = 0; f < filters; ++f) {
        output.row(pixel)[f] = has_bias() ? variables_[1].value[f] : T{0};
      }
    }
    ForEachTap(windows_, input.shape, output.shape, [&](const Tap& tap) {
      const T* const x = input.row(tap.input_pixel);
      const T* const k = &kernel[tap.window_element * channels * filters];
      T* const y = output.row(tap.output_pixel);
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t f = 0; f < filters; ++f) y[f] += x[c] * k[c * filters + f];
      }
    });
  }

  void Backward(const Step& /*step*/, const Tensor<T>& input,
                const Tensor<T>& /*output*/, const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) override {
    const auto& [kernel, kernel_gradient, unused] = variables_[0];
    const int64_t channels = input.row_size();
    const int64_t filters = output_gradient.row_size();
    std::fill(kernel_gradient.begin(), kernel_gradient.end(), T{0});
    std::fill(input_gradient.values.begin(), input_gradient.values.end(), T{0});
    ForEachTap(windows_, input.shape, output_gradient.shape,
               [&, &kernel = kernel,
                &kernel_gradient = kernel_gradient](const Tap& tap) {
                 const T* const x = input.row(tap.input_pixel);
                 const T* const dy = output_gradient.row(tap.output_pixel);
                 T* const dx = input_gradient.row(tap.input_pixel);
                 const int64_t matrix = tap.window_element * channels * filters;
                 for (int64_t c = 0; c < channels; ++c) {
                   for (int64_t f = 0; f < filters; ++f) {
                     dx[c] += kernel[matrix + c * filters + f] * dy[f];
                     kernel_gradient[matrix + c * filters + f] += x[c] * dy[f];
                   }
                 }
               });
    if (has_bias()) AddBiasGradient(output_gradient);
  }

 private:
  bool has_bias() const { return variables_.size() > 1; }

  void AddBiasGradient(const Tensor<T>& output_gradient) {
    const absl::Span<T> gradient = variables_[1].gradient;
    std::fill(gradient.begin(), gradient.end(), T{0});
    for (int64_t pixel = 0; pixel < output_gradient.row_count(); ++pixel) {
      for (size_t f = 0; f < gradient.size(); ++f) {
        gradient[f] += output_gradient.row(pixel)[f];
      }
    }
  }

  std::array<Window, 2> windows_;
  std::vector<Variable<T>> variables_;
};

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_LAYERS_CONV2D_H_
