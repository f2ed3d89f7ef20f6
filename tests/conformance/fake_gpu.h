// What stands in for a GPU where there is none.
//
// A fake: it was not recorded on a GPU, and proves no more than that the device
// makes the right calls in an order that works. What is not the GPU's is real:
// the bodies of our kernels, on the host's memory, and the device that puts
// them together. Matrix products and convolutions are plain loops.
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

// What was called, in order: "queue 0: launch", "queue 1: copy 8 bytes",
// "allocate", "allocate pinned", "pin", "plan" (of a convolution, for use),
// "estimate" (the same, for an estimate), "create queue", "create queue for
// copies" (which CHECK-fails at anything else), … Queues count from 0.
using CallLog = std::vector<std::string>;

struct FakeGpuOptions {
  // Gets the calls; outlives the GPU. Null: nobody does.
  CallLog* log = nullptr;
  // Allocations beyond fail.
  int64_t memory_bytes = int64_t{1} << 40;
  // The error of a call on a queue, such as "multiply", or on the GPU, such as
  // "allocate" or "create queue"; null: none fails.
  std::function<absl::Status(const std::string& call)> fault = nullptr;
  // Faults on queues are those of running: who asks without waiting does not
  // see them.
  bool faults_are_late = false;
};

// Queues run what is enqueued at once, or as a graph that holds it is launched.
// All of a process can be a group: its ranks, each on a thread, meet in memory.
// A sum that is captured, or of another length than that of the other ranks,
// ends the group, as it might hang with NCCL.
std::unique_ptr<Gpu> MakeFakeGpu(const FakeGpuOptions& options = {});

}  // namespace paceline::cuda

#endif  // PACELINE_TESTS_CONFORMANCE_FAKE_GPU_H_
