// A convolution computed by cuDNN.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_CONVOLUTION_H_

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_descriptor.h"
#include "worker/device/cuda/plugin/cudnn_engines.h"
#include "worker/device/cuda/plugin/cudnn_graph.h"

namespace paceline::cuda {

// The algorithm chosen for a shape.
struct CudnnAlgorithm {
  // What the graph computes: the shape; or, if no engine fuses it, the shape
  // without bias and rectifier.
  ConvolutionShape computed;
  CudnnGraph graph;
  // Of those that FindCudnnEngines finds for the graph.
  size_t engine_index = 0;
};

class CudnnConvolution final : public ConvolutionPlan {
 public:
  // `plan` must be for the algorithm's engine.
  CudnnConvolution(const ConvolutionShape& shape,
                   std::shared_ptr<const CudnnAlgorithm> algorithm,
                   CudnnPlan plan, int64_t workspace_bytes)
      : shape_(shape),
        algorithm_(std::move(algorithm)),
        plan_(std::move(plan)),
        workspace_bytes_(workspace_bytes) {}

  int64_t workspace_bytes() const override { return workspace_bytes_; }

  // Enqueues the pass on `stream`, which must also be the handle's.
  absl::Status Enqueue(cudnnHandle_t handle, cudaStream_t stream,
                       const ConvolutionBlocks& blocks) const;

 private:
  const ConvolutionShape shape_;
  const std::shared_ptr<const CudnnAlgorithm> algorithm_;
  const CudnnPlan plan_;
  const int64_t workspace_bytes_;
};

// Enqueues `plan` on the handle's stream.
absl::Status ExecuteCudnnPlan(cudnnHandle_t handle, const CudnnDescriptor& plan,
                              const ConvolutionShape& computed,
                              const ConvolutionBlocks& blocks);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_CONVOLUTION_H_
