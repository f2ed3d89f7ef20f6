// How long convolutions take.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_MEASURE_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_MEASURE_CONVOLUTION_H_

#include <cudnn.h>

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_descriptor.h"

namespace paceline::cuda {

// The index of the plan of `computed` that takes the least time. Runs each a
// few times, on zeros, in memory that it allocates for the time being: an error
// if there is none. Blocks.
absl::StatusOr<size_t> FastestPlan(
    cudnnHandle_t handle, const ConvolutionShape& computed,
    const std::vector<const CudnnDescriptor*>& plans);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_MEASURE_CONVOLUTION_H_
