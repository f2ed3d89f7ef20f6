// A convolution, whatever layer it is of.
//
// It is the product of the patches (pixels, kernel elements), one a pixel of
// the output, with the kernel (kernel elements, filters) as Keras has it. The
// patches are gathered for each product anew: kept from forward to backward
// they would take several times the memory of the images. In groups, which
// would make many small products, the sums are kernels of our own.
#ifndef PACELINE_WORKER_DEVICE_CUDA_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CUDA_CONVOLUTION_H_

#include <array>
#include <cstdint>

#include "common/model/window.h"
#include "worker/device/cuda/kernels/grouped_convolution.h"
#include "worker/device/cuda/program_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cuda {

struct ConvolutionSpec {
  std::array<Window, 2> windows;
  // That of a depthwise convolution has as many groups as channels.
  int64_t groups = 1;
  int64_t filters = 0;
  // By index in Graph::variables; (kh, kw, channels / groups, filters) in
  // memory.
  int kernel = 0;
};

class Convolution {
 public:
  explicit Convolution(const ConvolutionSpec& spec) : spec_(spec) {}

  // (batch, h, w, channels) to (batch, h', w', filters).
  Tensor* AddForward(Tensor* input, ProgramBuilder& builder);

  // From the gradient by the output that by the kernel, which is final then
  // (nothing is done if it is frozen), and that by the input. After AddForward.
  void AddKernelGradient(const Tensor* gradient, ProgramBuilder& builder);
  Tensor* AddInputGradient(const Tensor* gradient, ProgramBuilder& builder);

 private:
  bool is_grouped() const { return spec_.groups > 1; }
  int64_t patch_size() const {
    return windows_.y.size * windows_.x.size * windows_.channels;
  }
  // A patch is a pixel of the input: nothing is to be gathered.
  bool is_pointwise() const;
  ConvolutionGroups groups() const {
    return {windows_, spec_.groups, spec_.filters};
  }

  const Tensor* Patches(ProgramBuilder& builder) const;
  void AddGroupedKernelGradient(const Tensor* gradient, Tensor* result,
                                ProgramBuilder& builder) const;
  void AddPatchGradient(const Tensor* gradient, Tensor* input_gradient,
                        ProgramBuilder& builder) const;

  const ConvolutionSpec spec_;
  Tensor* input_ = nullptr;
  ImageWindows windows_;
  // Of the outputs of the batch.
  int64_t pixels_ = 0;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_CONVOLUTION_H_
