#include <algorithm>
#include <variant>

#include "worker/device/cuda/plugin/launch.h"

namespace paceline::cuda {
namespace {

constexpr int64_t kBlockSize = 256;
// Enough to fill the largest GPUs several times; with more indices, each thread
// computes several.
constexpr int64_t kMaxBlocks = 4096;

template <typename Body>
__global__ void __launch_bounds__(kBlockSize) Run(Body body, int64_t count) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    body(i);
  }
}

}  // namespace

cudaError_t Launch(int64_t count, const Kernel& kernel, cudaStream_t stream) {
  const int64_t blocks =
      std::min((count + kBlockSize - 1) / kBlockSize, kMaxBlocks);
  // Clear errors of earlier calls, so that this call does not report them.
  cudaGetLastError();
  std::visit(
      [&](const auto& body) {
        Run<<<static_cast<unsigned>(blocks), kBlockSize, 0, stream>>>(body,
                                                                      count);
      },
      kernel);
  return cudaGetLastError();
}

}  // namespace paceline::cuda
