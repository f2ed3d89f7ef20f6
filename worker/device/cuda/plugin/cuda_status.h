// CUDA's errors as statuses.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_STATUS_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_STATUS_H_

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/tensor/shape.h"

namespace paceline::cuda {

// Internal, or ResourceExhausted if memory is full, with CUDA's name and text
// for the error. `what` names the failed action.
inline absl::Status ToStatus(cudaError_t error, absl::string_view what) {
  if (error == cudaSuccess) return absl::OkStatus();
  // Clear the error that CUDA remembers, so that later calls do not report it.
  cudaGetLastError();
  return absl::Status(error == cudaErrorMemoryAllocation
                          ? absl::StatusCode::kResourceExhausted
                          : absl::StatusCode::kInternal,
                      absl::StrCat(what, ": ", cudaGetErrorName(error), ": ",
                                   cudaGetErrorString(error)));
}

inline absl::Status ToStatus(cublasStatus_t status, absl::string_view what) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return absl::Status(
      status == CUBLAS_STATUS_ALLOC_FAILED
          ? absl::StatusCode::kResourceExhausted
          : absl::StatusCode::kInternal,
      absl::StrCat(what, ": cuBLAS: ", cublasGetStatusString(status)));
}

// float32, float16 or bfloat16.
inline cudaDataType_t ToCuda(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return CUDA_R_16F;
    case DataType::kBFloat16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_STATUS_H_
