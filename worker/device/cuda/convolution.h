// A convolution, whatever layer it is of.
//
// Where it reads single pixels it is the product of the pixels with the kernel
// as Keras has it, (kh, kw, channels / groups, filters). Else it is a
// convolution of the GPU's library, which wants the filters first: the kernel
// is transposed in the forward, for the backward too, and its gradient back.
#ifndef PACELINE_WORKER_DEVICE_CUDA_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CUDA_CONVOLUTION_H_

#include <array>
#include <cstdint>

#include "common/model/window.h"
#include "worker/device/cuda/final_activation.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cuda {

struct ConvolutionSpec {
  std::array<Window, 2> windows;
  // That of a depthwise convolution has as many groups as channels.
  int64_t groups = 1;
  int64_t filters = 0;
  // By index in Graph::variables.
  int kernel = 0;
};

class Convolution {
 public:
  explicit Convolution(const ConvolutionSpec& spec) : spec_(spec) {}

  // (batch, h, w, channels) to (batch, h', w', filters).
  Tensor* AddForward(Tensor* input, ProgramBuilder& builder);
  // With `bias`, unless that is null, and the layer's activation behind it:
  // what the library can add to its work, it does.
  Tensor* AddForward(Tensor* input, const Tensor* bias,
                     FinalActivation& activation, ProgramBuilder& builder);

  // From the gradient by the output that by the kernel, which is final then
  // (nothing is done if it is frozen), and that by the input. After AddForward.
  void AddKernelGradient(const Tensor* gradient, ProgramBuilder& builder);
  Tensor* AddInputGradient(const Tensor* gradient, ProgramBuilder& builder);

 private:
  // A window reads a pixel, and every one is read.
  bool is_pointwise() const;
  // Notes the input; returns the output, to be written.
  Tensor* Start(Tensor* input, ProgramBuilder& builder);
  void AddProduct(const Tensor* output, const Tensor* bias,
                  ProgramBuilder& builder) const;
  ConvolutionShape ShapeOf(ConvolutionPass pass) const;

  const ConvolutionSpec spec_;
  // As layers compute.
  const Tensor* input_ = nullptr;
  ImageWindows windows_;
  // Filters first.
  Tensor* kernel_ = nullptr;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_CONVOLUTION_H_
