#include <algorithm>
#include <type_traits>
#include <variant>

#include "worker/device/cuda/plugin/launch.h"

namespace paceline::cuda {
namespace {

constexpr int64_t kBlockSize = 256;
// Enough to fill the largest GPUs several times; with more indices, each thread
// computes several.
constexpr int64_t kMaxBlocks = 4096;

// A kernel is launched while the one before it still runs, so that its blocks
// are ready when that ends (programmatic dependent launch, from compute
// capability 9.0 on). It waits for that end before it touches memory, and so
// all kernels of a stream run one after the other.
template <typename Body>
__global__ void __launch_bounds__(kBlockSize) Run(Body body, int64_t count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    body(i);
  }
}

// Whether the current device can launch kernels ahead.
bool LaunchesAhead() {
  int device = 0;
  int major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                                device) == cudaSuccess &&
         major >= 9;
}

}  // namespace

cudaError_t Launch(int64_t count, const Kernel& kernel, cudaStream_t stream) {
  cudaLaunchAttribute ahead = {};
  ahead.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  ahead.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(
      std::min((count + kBlockSize - 1) / kBlockSize, kMaxBlocks));
  config.blockDim = kBlockSize;
  config.stream = stream;
  config.attrs = &ahead;
  config.numAttrs = LaunchesAhead() ? 1 : 0;
  // Clear errors of earlier calls, so that this call does not report them.
  cudaGetLastError();
  return std::visit(
      [&](const auto& body) {
        return cudaLaunchKernelEx(&config, Run<std::decay_t<decltype(body)>>,
                                  body, count);
      },
      kernel);
}

}  // namespace paceline::cuda
