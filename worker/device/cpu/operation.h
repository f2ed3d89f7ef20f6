// The operations of a program on the CPU.
#ifndef PACELINE_WORKER_DEVICE_CPU_OPERATION_H_
#define PACELINE_WORKER_DEVICE_CPU_OPERATION_H_

#include "absl/functional/any_invocable.h"
#include "worker/device/device.h"

namespace paceline::cpu {

// What an operation knows about the current step.
struct Step {
  Batch batch;
  // The step adds loss and metrics here.
  MetricSums* metrics = nullptr;
};

using Operation = absl::AnyInvocable<void(const Step&)>;

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_OPERATION_H_
