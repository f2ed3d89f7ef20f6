// NCCL, looked for when a group of GPUs is wanted: without it a GPU works
// alone.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_NCCL_LIBRARY_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_NCCL_LIBRARY_H_

#include <nccl.h>

#include <string>

#include "absl/status/statusor.h"

namespace paceline::cuda {

// The functions that we call, by NCCL's names without "nccl".
struct NcclLibrary {
  decltype(&ncclAllReduce) AllReduce = nullptr;
  decltype(&ncclCommAbort) CommAbort = nullptr;
  decltype(&ncclCommGetAsyncError) CommGetAsyncError = nullptr;
  decltype(&ncclCommInitRankConfig) CommInitRankConfig = nullptr;
  decltype(&ncclGetErrorString) GetErrorString = nullptr;
  decltype(&ncclGetLastError) GetLastError = nullptr;
  decltype(&ncclGetUniqueId) GetUniqueId = nullptr;
};

// Loads the library of this name, as dlopen wants it, for the life of the
// process. Unimplemented says why there is none, or which function it lacks.
absl::StatusOr<NcclLibrary> LoadNccl(const std::string& name = "libnccl.so.2");

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_NCCL_LIBRARY_H_
