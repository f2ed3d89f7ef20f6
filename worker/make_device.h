// The device a job names.
#ifndef PACELINE_WORKER_MAKE_DEVICE_H_
#define PACELINE_WORKER_MAKE_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "paceline/v1/job.pb.h"
#include "worker/device/cuda/open_gpu.h"
#include "worker/device/device.h"

namespace paceline {

// By `device` of the job. "cpu": oneDNN on `threads` threads; "reference":
// plain loops; "cuda" or "cuda:N": a GPU, or an error that starts with the name
// and says what is missing; "auto": the first GPU if there is one that can
// compute `graph`, else the CPU, which the log says once. A GPU heeds the job's
// precision, deterministic, autotune and device_memory_limit; the CPU computes
// float32, repeats its bits and chooses by rule, whatever they are.
absl::StatusOr<std::unique_ptr<Device>> MakeDevice(
    const v1::Job& job, int threads, const Graph& graph,
    const cuda::Libraries& libraries = {});

// What the job asks of a GPU.
cuda::CudaOptions CudaOptionsOf(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_WORKER_MAKE_DEVICE_H_
