// The device a job names.
#ifndef PACELINE_WORKER_MAKE_DEVICE_H_
#define PACELINE_WORKER_MAKE_DEVICE_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "paceline/v1/job.pb.h"
#include "worker/device/cuda/open_gpu.h"
#include "worker/device/device.h"

namespace paceline {

// What else decides on a replica's device.
struct DeviceChoice {
  // Threads that compute, of a CPU.
  int threads = 1;
  // The replica's among those of its process: they take GPUs in turn, from the
  // one that is named on.
  int index = 0;
};

// Gives the driver of the machine's GPUs.
using DriverLoader =
    std::function<absl::StatusOr<std::unique_ptr<cuda::Driver>>()>;
inline absl::StatusOr<std::unique_ptr<cuda::Driver>> LoadNvidiaDriver() {
  return cuda::LoadDriver({});
}

// By `device` of the job. "cpu": oneDNN on threads; "reference":
// plain loops; "cuda" or "cuda:N": a GPU, or an error that starts with the name
// and says what is missing; "auto": the first GPU if there is one that can
// compute the graph, loss and metrics of `spec`, else the CPU, which the log
// says once. A GPU heeds the job's deterministic, autotune and
// device_memory_limit; the CPU repeats its bits and chooses by rule, whatever
// they are. FailedPrecondition names a precision that the named device does not
// have; the one that "auto" takes may lack it.
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(
    const v1::Job& job, const DeviceChoice& choice, const ProgramSpec& spec,
    const DriverLoader& load_driver = LoadNvidiaDriver);

// What layers compute in: what the job asks for, or float32 where the device
// cannot.
Precision PrecisionOf(const v1::Job& job, const Device& device);

// What the job asks of a GPU.
cuda::CudaOptions CudaOptionsOf(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_WORKER_MAKE_DEVICE_H_
