// A small convolution whose rectified output is pooled by 2 x 2 pixels at once,
// and the gradient by its kernel.
//
// oneDNN writes the convolution's output to memory and the pooling reads it;
// back, the same with its gradient. For few channels that takes most of the
// time: the tutorial's first layer writes 5.5 MB where it reads 0.2 MB and 1.4
// MB are left. Here the four pixels of a window stay in registers.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLED_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLED_CONVOLUTION_H_

#include <cstdint>

namespace paceline::cpu {

// Images lie (height, width, channels), the kernel (kernel height, kernel
// width, channels, filters); it moves by one pixel.
struct PooledConvolution {
  // Filters that are computed at once; `filters` is a multiple of it.
  static constexpr int64_t kFilters = 16;

  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t kernel_height = 0;
  int64_t kernel_width = 0;
  int64_t filters = 0;
  // Zeros before the first row and column of an image; those behind the last
  // ones follow from the size of the output.
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  // Of what is left by the pooling.
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t input_size() const { return height * width * channels; }
  int64_t output_size() const { return rows * columns * filters; }
  int64_t patch_size() const { return kernel_height * kernel_width * channels; }
};

// Both work on the images [begin, end) of a batch.

// As op::PooledConvolutionOperation has it. `bias` and `positions` may be null.
void PooledConvolutionForward(const PooledConvolution& convolution,
                              int64_t begin, int64_t end, const float* input,
                              const float* kernel, const float* bias,
                              float* output, int32_t* positions);

// Adds what the images contribute to the gradient by the kernel, and to that by
// the bias.
void PooledConvolutionKernelGradient(
    const PooledConvolution& convolution, int64_t begin, int64_t end,
    const float* input, const int32_t* positions, const float* output_gradient,
    float* kernel_gradient, float* bias_gradient);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLED_CONVOLUTION_H_
