// Helpers for oneDNN.
#ifndef PACELINE_WORKER_DEVICE_CPU_ONEDNN_H_
#define PACELINE_WORKER_DEVICE_CPU_ONEDNN_H_

#include <cstdint>
#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "worker/device/cpu/operation.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

// An argument of a primitive: its DNNL_ARG_… number and its layout.
struct PrimitiveArgument {
  int index = 0;
  Tensor* tensor = nullptr;
  dnnl::memory::desc layout;
  // Where the argument begins in the tensor, in bytes.
  int64_t offset = 0;
};

// `type` is float32 or bfloat16.
dnnl::memory::desc Layout(const dnnl::memory::dims& dims,
                          dnnl::memory::format_tag format,
                          DataType type = DataType::kFloat32);

// An Operation that runs a primitive. It prepares the arguments once;
// dnnl::primitive::execute would do so in every call.
class PrimitiveCall {
 public:
  PrimitiveCall(const dnnl::primitive& primitive, const dnnl::engine& engine,
                const std::vector<PrimitiveArgument>& arguments);

  void operator()(const Step& step);

 private:
  struct Binding {
    dnnl::memory memory;
    const Tensor* tensor;
    int64_t offset;
    // The address of the argument as oneDNN sees it.
    std::byte* data;
  };

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<Binding> bindings_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_ONEDNN_H_
