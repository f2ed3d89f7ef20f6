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
  // Whether it is of the type that is multiplied: see factor_outputs.h.
  bool is_read_as_factors = false;
};

class Convolution {
 public:
  explicit Convolution(const ConvolutionSpec& spec) : spec_(spec) {}

  // (batch, h, w, channels) to (batch, h', w', filters).
  Tensor* AddForward(Tensor* input, ProgramBuilder& builder);

  // From the gradient by what the convolution gives, those of its variables,
  // which are final then (nothing is done if they are frozen), and that of its
  // input, or null unless it is wanted. After AddForward.
  Tensor* AddBackward(Tensor* gradient, bool wants_input,
                      ProgramBuilder& builder);

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
  // Images as they, and gradients by them, lie in memory, and as they are
  // multiplied.
  struct ImageLayout {
    DataType type;
    dnnl::memory::desc values;
    dnnl::memory::desc factors;
  };
  Geometry GeometryOf(const Shape& input) const;
  void SetLayouts(const Tensor& input, DataType factor_type);
  void AddBackwardWeights(Tensor* gradient, Tensor* gradient_factors,
                          ProgramBuilder& builder);
  Tensor* AddBackwardData(Tensor* gradient_factors, ProgramBuilder& builder);

  const ConvolutionSpec spec_;
  Tensor* input_ = nullptr;
  Tensor* input_factors_ = nullptr;
  Geometry geometry_;
  ImageLayout source_;
  ImageLayout result_;
  dnnl::memory::desc keras_kernel_;
  // oneDNN chooses where the kernel and its gradient lie.
  dnnl::memory::desc any_kernel_;
  dnnl::memory::desc any_kernel_gradient_;
  dnnl::memory::desc bias_;
  dnnl::convolution_forward::primitive_desc forward_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_CONVOLUTION_H_
