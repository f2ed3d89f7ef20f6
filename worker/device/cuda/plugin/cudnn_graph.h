// A convolution as a graph of cuDNN's graph API.
//
// The graph API has three advantages over the older API: cuDNN accepts
// asymmetric padding; each engine says whether it is deterministic and uses
// tensor cores; and it fuses operations.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_GRAPH_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_GRAPH_H_

#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_descriptor.h"

namespace paceline::cuda {

// Ids of the tensors in the blocks of a convolution.
inline constexpr int64_t kImagesTensor = 1;
inline constexpr int64_t kKernelTensor = 2;
inline constexpr int64_t kOutputsTensor = 3;
inline constexpr int64_t kBiasTensor = 4;

// A finalized graph with the descriptors to which it refers.
struct CudnnGraph {
  std::vector<CudnnDescriptor> tensors;
  // Descriptions of the convolution and the operations after it.
  std::vector<CudnnDescriptor> descriptions;
  std::vector<CudnnDescriptor> operations;
  CudnnDescriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

// The graph of the pass `shape`, with its bias and rectifier if it has them.
// With a null `handle` the graph is for no specific GPU.
absl::StatusOr<CudnnGraph> MakeCudnnGraph(cudnnHandle_t handle,
                                          const ConvolutionShape& shape);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_GRAPH_H_
