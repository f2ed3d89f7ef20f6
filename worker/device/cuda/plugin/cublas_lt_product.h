// Matrix products with more to do, by cuBLASLt.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUBLAS_LT_PRODUCT_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUBLAS_LT_PRODUCT_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// What cuBLASLt works with.
struct CublasLtContext {
  cublasLtHandle_t handle = nullptr;
  MathMode math_mode = MathMode::kFloat32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
};

// Enqueues a product with its bias or its column sums, by the algorithm that
// cuBLASLt's rules name. CUBLAS_STATUS_NOT_SUPPORTED, and nothing is enqueued,
// if they name none, or if the bias or the sums are not on a multiple of
// kProductVectorAlignment.
cublasStatus_t MultiplyFused(const CublasLtContext& context,
                             const MatrixProduct& product);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUBLAS_LT_PRODUCT_H_
