// A fake GPU for machines without one.
//
// It was not recorded on a real GPU, so it only proves that the device makes
// correct calls in a valid order. Real are the bodies of our kernels, which run
// in host memory, and the device that enqueues them. Matrix products and
// convolutions are plain loops.
#ifndef PACELINE_TESTS_CONFORMANCE_FAKE_GPU_H_
#define PACELINE_TESTS_CONFORMANCE_FAKE_GPU_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/device/cuda/gpu.h"

namespace paceline::cuda {

// The calls in order: "queue 0: launch", "queue 1: copy 8 bytes", "allocate",
// "allocate pinned", "pin", "plan" (of a convolution, for use), "estimate" (for
// an estimate), "create queue", "create queue for copies" (which CHECK-fails on
// anything but copies), … Queues are numbered from 0.
using CallLog = std::vector<std::string>;

struct FakeGpuOptions {
  // Receives the calls; must outlive the GPU. Null: not logged.
  CallLog* log = nullptr;
  // Allocations beyond this total fail.
  int64_t memory_bytes = int64_t{1} << 40;
  // Returns the error of a call on a queue, such as "multiply", or on the GPU,
  // such as "allocate" or "create queue". Null: no call fails.
  std::function<absl::Status(const std::string& call)> fault = nullptr;
  // Whether errors on queues occur when the work runs: callers that do not wait
  // do not see them.
  bool faults_are_late = false;
};

// Queues run work when it is enqueued, or when a graph with it is launched. All
// GPUs of a process can form a group, whose ranks, each on a thread, exchange
// data in memory. A captured sum, or one of another length than on the other
// ranks, ends the group, since NCCL might hang.
std::unique_ptr<Gpu> MakeFakeGpu(const FakeGpuOptions& options = {});

}  // namespace paceline::cuda

#endif  // PACELINE_TESTS_CONFORMANCE_FAKE_GPU_H_
