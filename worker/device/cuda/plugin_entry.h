// The exported function of the plug-in.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_ENTRY_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_ENTRY_H_

#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// The caller owns the result.
using MakeDriverFunction = Driver*();

inline constexpr char kMakeDriverSymbol[] = "PacelineMakeCudaDriver";

}  // namespace paceline::cuda

extern "C" __attribute__((visibility("default")))
paceline::cuda::MakeDriverFunction PacelineMakeCudaDriver;

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_ENTRY_H_
