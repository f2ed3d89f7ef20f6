// Opens a GPU by its number.
#ifndef PACELINE_WORKER_DEVICE_CUDA_OPEN_GPU_H_
#define PACELINE_WORKER_DEVICE_CUDA_OPEN_GPU_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// Names for dlopen. The plug-in is next to the program.
struct Libraries {
  std::string driver = "libcuda.so.1";
  std::string plugin = "libpaceline_cuda.so";
};

// A job's options for a GPU.
struct CudaOptions {
  GpuOptions gpu;
  // GPU memory that may be allocated, in bytes (limited_gpu.h); 0: no limit.
  int64_t memory_limit_bytes = 0;
};

// Loads the plug-in, and with it CUDA's libraries, for the life of the process.
// Looks for NVIDIA's driver first, so that a machine without a GPU pays
// nothing. FailedPrecondition says what is missing: the driver, the plug-in, or
// which CUDA library of the plug-in.
absl::StatusOr<std::unique_ptr<Driver>> LoadDriver(const Libraries& libraries);

// FailedPrecondition if the driver is missing or too old (with the installed
// and the required version). NotFound if there is no GPU with this ordinal.
absl::StatusOr<std::unique_ptr<Gpu>> OpenGpu(Driver& driver, int ordinal,
                                             const CudaOptions& options);

// The GPU of replica `index` of a process: consecutive GPUs from `first` on,
// wrapping around.
inline int OrdinalOf(int first, int index, int gpu_count) {
  return first >= gpu_count ? first : first + index % (gpu_count - first);
}

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OPEN_GPU_H_
