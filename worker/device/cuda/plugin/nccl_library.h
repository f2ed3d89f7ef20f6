// Loads NCCL when a group of GPUs is wanted. Without NCCL each GPU works alone.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_NCCL_LIBRARY_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_NCCL_LIBRARY_H_

#include <nccl.h>

#include <string>

#include "absl/status/statusor.h"

namespace paceline::cuda {

// The NCCL functions that we call; names without the prefix "nccl".
struct NcclLibrary {
  decltype(&ncclAllReduce) AllReduce = nullptr;
  decltype(&ncclCommAbort) CommAbort = nullptr;
  decltype(&ncclCommGetAsyncError) CommGetAsyncError = nullptr;
  decltype(&ncclCommInitRankConfig) CommInitRankConfig = nullptr;
  decltype(&ncclGetErrorString) GetErrorString = nullptr;
  decltype(&ncclGetLastError) GetLastError = nullptr;
  decltype(&ncclGetUniqueId) GetUniqueId = nullptr;
};

// Loads the library `name` for the life of the process. Unimplemented says why
// that failed, or which function is missing.
absl::StatusOr<NcclLibrary> LoadNccl(const std::string& name = "libnccl.so.2");

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_NCCL_LIBRARY_H_
