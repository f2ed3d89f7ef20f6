// Which of cuDNN's engines may run a graph.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_ENGINES_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_ENGINES_H_

#include <cudnn.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_descriptor.h"

namespace paceline::cuda {

// Configurations of engines that keep to `options` with values of `type`, the
// best first by cuDNN's rules, those that take anything behind them. `gpu`
// describes one (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) where the graph is for
// none; else it is null. Unimplemented if there are none.
absl::StatusOr<std::vector<CudnnDescriptor>> FindCudnnEngines(
    const CudnnDescriptor& graph, const CudnnDescriptor* gpu,
    const GpuOptions& options, DataType type);

// What can be run. Unimplemented if the engine turns out not to support its
// graph, or needs more than kMaxCudnnWorkspaceBytes.
absl::StatusOr<CudnnDescriptor> MakeCudnnPlan(const CudnnDescriptor& engine);

// More than good engines ask for, less than memory has.
inline constexpr int64_t kMaxCudnnWorkspaceBytes = int64_t{1} << 30;

absl::StatusOr<int64_t> WorkspaceOf(const CudnnDescriptor& plan);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDNN_ENGINES_H_
