// A convolution in groups: the sum over the taps of a window, each with a
// matrix of its own for each group.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_CONVOLUTION_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "common/model/window.h"
#include "worker/device/reference/tensor.h"
#include "worker/device/reference/window_taps.h"

namespace paceline::reference {

// Of images with `channels` into images with `filters`, by a kernel (kh, kw,
// channels / groups, filters). The kernel of a depthwise convolution is that of
// as many groups as channels.
struct Convolution {
  std::array<Window, 2> windows;
  int64_t groups = 1;

  // Calls visit(input channel, filter, element of the kernel) for all that one
  // tap connects.
  template <typename Visit>
  void ForEachWeight(int64_t window_element, int64_t channels, int64_t filters,
                     Visit visit) const {
    const int64_t group_channels = channels / groups;
    for (int64_t c = 0; c < group_channels; ++c) {
      for (int64_t f = 0; f < filters; ++f) {
        const int64_t group = f / (filters / groups);
        visit(group * group_channels + c, f,
              (window_element * group_channels + c) * filters + f);
      }
    }
  }

  // Adds to the output.
  template <typename T>
  void AddForward(const Tensor<T>& input, absl::Span<const T> kernel,
                  Tensor<T>& output) const {
    ForEachTap(windows, input.shape, output.shape, [&](const Tap& tap) {
      const T* const x = input.row(tap.input_pixel);
      T* const y = output.row(tap.output_pixel);
      ForEachWeight(
          tap.window_element, input.row_size(), output.row_size(),
          [&](int64_t c, int64_t f, int64_t k) { y[f] += x[c] * kernel[k]; });
    });
  }

  // Writes both gradients.
  template <typename T>
  void Backward(const Tensor<T>& input, const Variable<T>& kernel,
                const Tensor<T>& output_gradient,
                Tensor<T>& input_gradient) const {
    std::fill(kernel.gradient.begin(), kernel.gradient.end(), T{0});
    std::fill(input_gradient.values.begin(), input_gradient.values.end(), T{0});
    ForEachTap(windows, input.shape, output_gradient.shape,
               [&](const Tap& tap) {
                 const T* const x = input.row(tap.input_pixel);
                 const T* const dy = output_gradient.row(tap.output_pixel);
                 T* const dx = input_gradient.row(tap.input_pixel);
                 ForEachWeight(tap.window_element, input.row_size(),
                               output_gradient.row_size(),
                               [&](int64_t c, int64_t f, int64_t k) {
                                 dx[c] += kernel.value[k] * dy[f];
                                 kernel.gradient[k] += x[c] * dy[f];
                               });
               });
  }
};

// The bias that each pixel gets; without one, 0.
template <typename T>
void SetToBias(const Variable<T>* bias, Tensor<T>& output) {
  for (int64_t pixel = 0; pixel < output.row_count(); ++pixel) {
    for (int64_t f = 0; f < output.row_size(); ++f) {
      output.row(pixel)[f] = bias == nullptr ? T{0} : bias->value[f];
    }
  }
}

template <typename T>
void SetBiasGradient(const Tensor<T>& output_gradient,
                     const Variable<T>* bias) {
  if (bias == nullptr) return;
  std::fill(bias->gradient.begin(), bias->gradient.end(), T{0});
  for (int64_t pixel = 0; pixel < output_gradient.row_count(); ++pixel) {
    for (size_t f = 0; f < bias->gradient.size(); ++f) {
      bias->gradient[f] += output_gradient.row(pixel)[f];
    }
  }
}

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_CONVOLUTION_H_
