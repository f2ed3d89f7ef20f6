// A convolution as a graph of cuDNN's operations.
//
// The graph API is cuDNN's newer one: it takes padding that differs before and
// behind, says of each engine whether it repeats its bits and uses tensor
// cores, and fuses.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_GRAPH_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_GRAPH_H_

#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_descriptor.h"

namespace paceline::cuda {

// The tensors that the blocks of a convolution are.
inline constexpr int64_t kImagesTensor = 1;
inline constexpr int64_t kKernelTensor = 2;
inline constexpr int64_t kOutputsTensor = 3;
inline constexpr int64_t kBiasTensor = 4;

// A finished graph and what it refers to.
struct CudnnGraph {
  std::vector<CudnnDescriptor> tensors;
  // Of the convolution and of the operations behind it.
  std::vector<CudnnDescriptor> descriptions;
  std::vector<CudnnDescriptor> operations;
  CudnnDescriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

// The pass `shape`, with its bias and rectifier where it has them. A null
// `handle` makes a graph for no certain GPU.
absl::StatusOr<CudnnGraph> MakeCudnnGraph(cudnnHandle_t handle,
                                          const ConvolutionShape& shape);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_GRAPH_H_
