// A convolution by oneDNN, whatever layer it is of.
//
// Images stay in (batch, height, width, channels), the order of Keras: oneDNN's
// kernels are as fast on it as on its blocked layouts or faster, and Flatten
// costs nothing. Only the kernels are reordered, into the layout that each
// primitive asks for, and their gradients back.
#ifndef PACELINE_WORKER_DEVICE_CPU_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CPU_CONVOLUTION_H_

#include <array>
#include <cstdint>
#include <dnnl.hpp>
#include <optional>

#include "common/model/window.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

struct ConvolutionSpec {
  std::array<Window, 2> windows;
  // That of a depthwise convolution has as many groups as channels.
  int64_t groups = 1;
  int64_t filters = 0;
  // By index in Graph::variables. The kernel is (kh, kw, channels / groups,
  // filters) in memory.
  int kernel = 0;
  std::optional<int> bias = std::nullopt;
  // Whether the output is rectified.
  bool relu = false;
};

class Convolution {
 public:
  explicit Convolution(const ConvolutionSpec& spec) : spec_(spec) {}

  // (batch, h, w, channels) to (batch, h', w', filters).
  Tensor* AddForward(Tensor* input, ProgramBuilder& builder);

  // From the gradient by what the convolution gives before it is rectified,
  // those of its variables, which are final then (nothing is done if they are
  // frozen), and that of its input. After AddForward.
  void AddBackwardWeights(Tensor* gradient, ProgramBuilder& builder);
  Tensor* AddBackwardData(Tensor* gradient, ProgramBuilder& builder);

 private:
  // Strides, dilations (0 for adjacent elements) and padding in oneDNN's terms.
  struct Geometry {
    dnnl::memory::dims strides;
    dnnl::memory::dims dilations;
    dnnl::memory::dims pad_before;
    dnnl::memory::dims pad_after;
    // (batch, h', w', filters).
    Shape output;
  };
  Geometry GeometryOf(const Shape& input) const;
  void SetLayouts(const Shape& input);
  void FinishGradients(ProgramBuilder& builder);

  const ConvolutionSpec spec_;
  Tensor* input_ = nullptr;
  Geometry geometry_;
  dnnl::memory::desc source_;
  dnnl::memory::desc keras_kernel_;
  // oneDNN chooses.
  dnnl::memory::desc any_kernel_;
  dnnl::memory::desc bias_;
  dnnl::memory::desc result_;
  dnnl::convolution_forward::primitive_desc forward_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_CONVOLUTION_H_
