// A cudaEvent_t.
#ifndef PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_EVENT_H_
#define PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_EVENT_H_

#include <cuda_runtime_api.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "worker/device/cuda/plugin/cuda_status.h"
#include "worker/device/stream.h"

namespace paceline::cuda {

// Belongs to the GPU that is current when it is created.
class CudaEvent final : public Event {
 public:
  static absl::StatusOr<std::unique_ptr<Event>> Create() {
    cudaEvent_t event = nullptr;
    // A waiting thread sleeps, since other replicas need the core.
    RETURN_IF_ERROR(
        ToStatus(cudaEventCreateWithFlags(
                     &event, cudaEventDisableTiming | cudaEventBlockingSync),
                 "an event"));
    return std::unique_ptr<Event>(new CudaEvent(event));
  }
  ~CudaEvent() override { cudaEventDestroy(event_); }

  // Also true after an error, which Wait returns.
  bool HasPassed() const override {
    if (cudaEventQuery(event_) != cudaErrorNotReady) return true;
    // Clear the error, so that later calls do not report it.
    cudaGetLastError();
    return false;
  }
  absl::Status Wait() override {
    return ToStatus(cudaEventSynchronize(event_), "waiting for an event");
  }

  cudaEvent_t get() const { return event_; }

 private:
  explicit CudaEvent(cudaEvent_t event) : event_(event) {}
  const cudaEvent_t event_;
};

}  // namespace paceline::cuda

#endif  // PACELINE_WORKER_DEVICE_CUDA_PLUGIN_CUDA_EVENT_H_
