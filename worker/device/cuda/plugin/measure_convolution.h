// Measures how long convolutions take.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_MEASURE_CONVOLUTION_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_MEASURE_CONVOLUTION_H_

#include <cudnn.h>

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/plugin/cudnn_descriptor.h"

namespace paceline::cuda {

// The index of the fastest plan of `computed`. Runs each a few times, on zeros,
// in temporary memory; returns an error if there is not enough memory. Blocks.
absl::StatusOr<size_t> FastestPlan(
    cudnnHandle_t handle, const ConvolutionShape& computed,
    const std::vector<const CudnnDescriptor*>& plans);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_MEASURE_CONVOLUTION_H_
