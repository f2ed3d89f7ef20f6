// Matrix products with a fused bias or column sums, by cuBLASLt.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUBLAS_LT_PRODUCT_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUBLAS_LT_PRODUCT_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// The handle, stream and workspace that cuBLASLt uses.
struct CublasLtContext {
  cublasLtHandle_t handle = nullptr;
  MathMode math_mode = MathMode::kFloat32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
};

// Enqueues a product with its bias or column sums, by the algorithm that
// cuBLASLt's heuristics choose. CUBLAS_STATUS_NOT_SUPPORTED if there is no such
// algorithm, or if bias or sums are not aligned to kProductVectorAlignment;
// then nothing is enqueued.
cublasStatus_t MultiplyFused(const CublasLtContext& context,
                             const MatrixProduct& product);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUBLAS_LT_PRODUCT_H_
