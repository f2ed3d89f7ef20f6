// Creates the device that a job names.
#ifndef PACELINE_WORKER_SETUP_MAKE_DEVICE_H_
#define PACELINE_WORKER_SETUP_MAKE_DEVICE_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "paceline/v1/job.pb.h"
#include "worker/device/cuda/open_gpu.h"
#include "worker/device/device.h"

namespace paceline {

// What selects a replica's device beside the job.
struct DeviceChoice {
  // Number of compute threads of a CPU device.
  int threads = 1;
  // Index of the replica in its process. Replicas use consecutive GPUs, from
  // the one that the job names.
  int index = 0;
};

// Loads the driver of the machine's GPUs.
using DriverLoader =
    std::function<absl::StatusOr<std::unique_ptr<cuda::Driver>>()>;
inline absl::StatusOr<std::unique_ptr<cuda::Driver>> LoadNvidiaDriver() {
  return cuda::LoadDriver({});
}

// Creates the job's `device`. "cpu": oneDNN on threads. "reference": plain
// loops. "cuda" or "cuda:N": a GPU, or an error that starts with the name and
// says what is missing. "auto": the first GPU if it can compute the graph, loss
// and metrics of `spec`, else the CPU; the choice of the CPU is logged once. A
// GPU follows the job's `deterministic`, `autotune` and `device_memory_limit`;
// the CPU ignores them, since it is always deterministic and never measures.
// FailedPrecondition if the named device does not support the job's precision;
// with "auto" the precision may fall back (PrecisionOf).
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(
    const v1::Job& job, const DeviceChoice& choice, const ProgramSpec& spec,
    const DriverLoader& load_driver = LoadNvidiaDriver);

// The precision in which layers compute: the job's, or float32 if the device
// does not support it.
Precision PrecisionOf(const v1::Job& job, const Device& device);

// The job's options for a GPU.
cuda::CudaOptions CudaOptionsOf(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_WORKER_SETUP_MAKE_DEVICE_H_
