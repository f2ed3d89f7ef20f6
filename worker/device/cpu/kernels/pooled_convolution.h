// A small convolution fused with its rectifier and a 2 x 2 max pooling, and the
// gradient of its kernel.
//
// oneDNN would write the convolution's output to memory and read it again for
// the pooling; the same happens with its gradient in backward. If there are few
// channels, that takes most of the time: the tutorial's first layer reads 0.2
// MB and writes 5.5 MB, of which pooling leaves 1.4 MB. Here the four pixels of
// a pooling window stay in registers.
#ifndef PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLED_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLED_CONVOLUTION_H_

#include <cstdint>

namespace paceline::cpu {

// Images are (height, width, channels), the kernel is (kernel height, kernel
// width, channels, filters); stride 1.
struct PooledConvolution {
  // Filters that are computed together; `filters` is a multiple of this.
  static constexpr int64_t kFilters = 16;

  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t kernel_height = 0;
  int64_t kernel_width = 0;
  int64_t filters = 0;
  // Rows and columns of zeros before the image; those after it follow from the
  // output's size.
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  // Rows and columns of the pooled output.
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t input_size() const { return height * width * channels; }
  int64_t output_size() const { return rows * columns * filters; }
  int64_t patch_size() const { return kernel_height * kernel_width * channels; }
};

// Both functions work on the images [begin, end) of a batch.

// Computes op::PooledConvolutionOperation. `bias` and `positions` may be null.
void PooledConvolutionForward(const PooledConvolution& convolution,
                              int64_t begin, int64_t end, const float* input,
                              const float* kernel, const float* bias,
                              float* output, int32_t* positions);

// Adds what the images contribute to the gradients of the kernel and the bias.
void PooledConvolutionKernelGradient(
    const PooledConvolution& convolution, int64_t begin, int64_t end,
    const float* input, const int32_t* positions, const float* output_gradient,
    float* kernel_gradient, float* bias_gradient);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_KERNELS_POOLED_CONVOLUTION_H_
