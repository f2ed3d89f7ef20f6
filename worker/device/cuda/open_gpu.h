// From the name of a GPU to the GPU.
#ifndef PACELINE_WORKER_DEVICE_CUDA_OPEN_GPU_H_
#define PACELINE_WORKER_DEVICE_CUDA_OPEN_GPU_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// Names as dlopen wants them. Our plug-in is found beside the program.
struct Libraries {
  std::string driver = "libcuda.so.1";
  std::string plugin = "libpaceline_cuda.so";
};

// How a job wants a GPU to be used.
struct CudaOptions {
  GpuOptions gpu;
  // Bytes of the GPU's memory that may be allocated (limited_gpu.h); 0: all.
  int64_t memory_limit_bytes = 0;
};

// Loads the plug-in, and with it CUDA's libraries, for the life of the process;
// the plug-in only where NVIDIA's driver is, so that a machine without one pays
// nothing. FailedPrecondition says which is missing: the driver, the plug-in,
// or by its name the library of CUDA that the plug-in needs.
absl::StatusOr<std::unique_ptr<Driver>> LoadDriver(const Libraries& libraries);

// FailedPrecondition if the driver is missing or too old (with the version that
// is there and the one that is needed), NotFound if there is no GPU, or none
// with this ordinal.
absl::StatusOr<std::unique_ptr<Gpu>> OpenGpu(Driver& driver, int ordinal,
                                             const CudaOptions& options);

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_OPEN_GPU_H_
