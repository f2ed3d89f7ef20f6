// The device a job names.
#ifndef PACELINE_WORKER_MAKE_DEVICE_H_
#define PACELINE_WORKER_MAKE_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/device/cuda/open_gpu.h"
#include "worker/device/device.h"

namespace paceline {

// What a job says of a replica's device.
struct DeviceChoice {
  std::string name = {};
  // Threads that compute, of a CPU.
  int threads = 1;
  // The replica's among those of its process: they take GPUs in turn, from the
  // one that is named on.
  int index = 0;
};

// "cpu": oneDNN on threads; "reference": plain loops; "cuda" or
// "cuda:N": a GPU, or an error that starts with the name and says what is
// missing; "auto": the first GPU if there is one that can compute `graph`, else
// the CPU, which the log says once.
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(
    const DeviceChoice& choice, const Graph& graph,
    const cuda::Libraries& libraries = {});

}  // namespace paceline

#endif  // PACELINE_WORKER_MAKE_DEVICE_H_
