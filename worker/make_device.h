// The device a job names.
#ifndef PACELINE_WORKER_MAKE_DEVICE_H_
#define PACELINE_WORKER_MAKE_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/device/cuda/open_gpu.h"
#include "worker/device/device.h"

namespace paceline {

// "cpu": oneDNN on `threads` threads; "reference": plain loops; "cuda" or
// "cuda:N": a GPU, or an error that starts with the name and says what is
// missing; "auto": the first GPU if there is one that can compute `graph`, else
// the CPU, which the log says once.
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(
    absl::string_view name, int threads, const Graph& graph,
    const cuda::Libraries& libraries = {});

}  // namespace paceline

#endif  // PACELINE_WORKER_MAKE_DEVICE_H_
