// Selects the cuDNN engines that may compute a graph.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_ENGINES_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_ENGINES_H_

#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_descriptor.h"

namespace paceline::cuda {

// Engine configurations that comply with `options` for values of `type`, best
// first by cuDNN's heuristics; after these, cuDNN's fallback engines. `gpu`
// describes a GPU (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) if the graph has no
// handle; else null. Unimplemented if there are none.
absl::StatusOr<std::vector<CudnnDescriptor>> FindCudnnEngines(
    const CudnnDescriptor& graph, const CudnnDescriptor* gpu,
    const GpuOptions& options, DataType type);

// A plan, and the engine configuration from which it was made.
struct CudnnPlan {
  CudnnDescriptor engine;
  CudnnDescriptor plan;
};

// An executable plan. Unimplemented if the engine does not support its graph
// after all, or needs more than kMaxCudnnWorkspaceBytes. Takes the engine
// configuration, because from one whose kernels are compiled as it runs cuDNN
// 9.14 makes a single plan; another one needs a configuration that was found
// anew.
absl::StatusOr<CudnnPlan> MakeCudnnPlan(CudnnDescriptor engine);

// More than good engines need, less than GPUs have.
inline constexpr int64_t kMaxCudnnWorkspaceBytes = int64_t{1} << 30;

absl::StatusOr<int64_t> WorkspaceOf(const CudnnDescriptor& plan);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_ENGINES_H_
